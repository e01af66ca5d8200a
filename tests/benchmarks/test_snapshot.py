"""If these fail, the benchmark of snapshots measures something else than what it says."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from benchmarks.venvs import Environment

from benchmarks import snapshot, tree

pytestmark = pytest.mark.slow

SMALL = tree.Shape(40, 200_000)


def test_a_first_snapshot_is_measured_beside_its_floor() -> None:
    found = snapshot.first_over_floor(Environment(Path(sys.prefix)), SMALL, 1, lambda said: None)
    assert float(found.rstrip("×")) > 0


def test_over_http_all_content_travels_and_beside_the_server_none_does(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    tree.make(folder, SMALL)
    ours = Environment(Path(sys.prefix))
    beside, remote = snapshot._taken(ours, folder), snapshot._taken(ours, folder, "--remote")
    assert beside[1].requests == remote[1].requests == 1, "an unchanged folder is one request"
    assert 0 < beside[0].requests <= 5
    assert remote[0].requests >= 3
