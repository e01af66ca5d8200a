"""The engine is chosen by what the environment has; nothing is loaded before."""

from __future__ import annotations

import pytest

from runyard.sdk.tables.engines import base
from runyard.sdk.tables.engines.arrow import ArrowEngine
from runyard.sdk.tables.engines.plain import PlainEngine


def test_pyarrow_is_used_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(base.chosen_engine(), ArrowEngine)
    monkeypatch.setattr(base, "find_spec", lambda name: None)
    assert isinstance(base.chosen_engine(), PlainEngine)
