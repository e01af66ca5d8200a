"""Names: what an id of a run is made of fits into every rule and every file name."""

from __future__ import annotations

import re

import pytest

from runyard.contracts import names


@pytest.mark.parametrize("length", [1, 180, 181, 200, 250, 255])
def test_a_run_of_every_legal_experiment_gets_an_id_of_its_own(length: int) -> None:
    experiment = names.check("experiment", "e" * length)
    ids = {names.check("run", names.submitted_run(experiment)) for _ in range(100)}
    assert len(ids) == 100
    assert all(re.fullmatch(r"e{1,255}_\d+_[0-9a-f]{8}", id) for id in ids)
