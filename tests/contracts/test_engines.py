"""If these fail, an engine of the table cannot be found, or the SDK drags engines into the user's process."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from runyard.contracts.engines import BUILT_IN
from runyard.engines import discovery
from runyard.engines.base import Engine


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_entry_leads_to_an_engine_and_is_fit_to_be_sent(name: str) -> None:
    description = BUILT_IN[name]
    assert description.name == name
    assert issubclass(discovery.load(description), Engine)
    assert re.fullmatch("[A-Za-z]{1,63}", description.target_type)
    assert len({option.name for option in description.options}) == len(description.options)


def test_reading_the_table_loads_no_engine_and_scans_no_packages() -> None:
    script = """
import sys
from runyard.contracts.engines import BUILT_IN
BUILT_IN["ray"].check_options({"address": "head:6379"})
loaded = [name for name in sys.modules if name.startswith(("runyard.engines", "importlib.metadata"))]
assert not loaded, loaded
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)
