"""Names: what an id of a run is made of fits into every rule and every file name."""

from __future__ import annotations

import re

import pytest

from runyard.contracts import names


@pytest.mark.parametrize(
    ("files", "places"),
    [
        (["a", "b/c"], ["a", "b/c"]),
        (["x", "x/y"], ["x~", "x/y"]),
        (["x", "x~", "x/y"], ["x~~", "x~", "x/y"]),
        (["x", "x/y", "x~", "x~/y"], ["x~~", "x/y", "x~~~", "x~/y"]),
        (["x", "x/y", "x/y/z", "x/y/z/a"], ["x~", "x/y~", "x/y/z~", "x/y/z/a"]),
    ],
)
def test_every_file_has_a_place_of_its_own_on_a_disk(files: list[str], places: list[str]) -> None:
    found = names.on_disk(files)
    assert [found[name] for name in files] == places
    assert len(set(found.values())) == len(files)
    above = {"/".join(each.split("/")[:length]) for each in places for length in range(1, each.count("/") + 1)}
    assert not above & set(places)


@pytest.mark.parametrize("length", [1, 180, 181, 200, 250, 255])
def test_a_run_of_every_legal_experiment_gets_an_id_of_its_own(length: int) -> None:
    experiment = names.check("experiment", "e" * length)
    ids = {names.check("run", names.submitted_run(experiment)) for _ in range(100)}
    assert len(ids) == 100
    assert all(re.fullmatch(r"e{1,255}_\d+_[0-9a-f]{8}", id) for id in ids)
