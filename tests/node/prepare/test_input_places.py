"""Where an input may lie: never outside the folder that was meant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runyard.contracts.plan import Launch, Plan
from runyard.node.prepare import input_places
from runyard.node.problem import RunProblem


def plan() -> Plan:
    return Plan("r_1", "r_1", "e", "1", "local", "s", "g", "local", "t", "http://127.0.0.1:9", Launch(script="x.py"))


def given(path: str | None = None) -> dict[str, Any]:
    return {"name": "d", "dataset": "1", "mode": "mount", "path_on_compute": path}


def test_the_place_of_an_input(tmp_path: Path) -> None:
    work = tmp_path / "work"
    assert input_places.place_of(plan(), tmp_path, work, given(), False) == tmp_path / "inputs" / "d"
    assert input_places.place_of(plan(), tmp_path, work, given("a/b"), False) == work / "a" / "b"
    assert input_places.place_of(plan(), tmp_path, work, given("/data/x"), False) == Path("/data/x")
    for path, contained in (("../x", False), ("/data/x", True)):
        with pytest.raises(RunProblem):
            input_places.place_of(plan(), tmp_path, work, given(path), contained)
