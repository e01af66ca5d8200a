"""Environment maps from the command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from runyard.cli import errors

if TYPE_CHECKING:
    from tests.cli.conftest import Shell


def test_names_are_mapped_and_unmapped(shell: Shell) -> None:
    python = shell.folder / "venv" / "bin" / "python"
    mapped = shell.json("env", "map", "test_env-*", "--interpreter", "./venv/bin/python")
    assert {"pattern": "test_env-*", "interpreter": str(python), "definition": None} in mapped
    (shell.folder / "requirements.txt").write_text("numpy\n")
    shell.json("env", "map", "test_env-pip-*", "--pip", "requirements.txt")
    told = shell.call("env", "maps").stdout
    assert str(python) in told
    assert "test_env-pip-*" in told
    definition = next(each for each in shell.json("env", "maps") if each["pattern"] == "test_env-pip-*")["definition"]
    assert "numpy" in json.dumps(definition)
    for pattern in ("test_env-pip-*", "test_env-*"):
        left = shell.json("env", "unmap", pattern)
        assert pattern not in [each["pattern"] for each in left]
    shell.refusal("env", "unmap", "test_env-*", expect=errors.NOT_FOUND)
