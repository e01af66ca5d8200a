"""If these fail, the data of one run is written over that of another, or a dataset is made of the wrong folder."""

from __future__ import annotations

from runyard.contracts.data import datasets
from runyard.contracts.data.outputs import Output, filled


def test_every_run_writes_to_a_folder_of_its_own_unless_told_otherwise() -> None:
    assert Output("prepared").folder("digits_1") == "dataset/digits_1/prepared"
    assert Output("prepared", path="/out/").folder("digits_1") == "out"
    assert filled("{run-id}/{other}/{output-name}", "a", "{run-id}") == "a/{other}/{run-id}"


def test_only_files_that_fit_a_pattern_count() -> None:
    some = Output("prepared", globs=["*.csv", "deep/**"])
    assert [some.counts(each) for each in ("a.csv", "b/a.csv", "deep/x/y", "a.txt")] == [True, False, True, False]
    assert Output("prepared").counts("anything")


def test_what_was_written_is_a_dataset_of_that_folder() -> None:
    made = Output("prepared", "store", "out/{run-id}").dataset("r")
    assert made == {"kind": "file", "steps": [], "sources": [{"datastore": "store", "path": "out/r"}]}
    assert datasets.parse(made).sources[0].path == "out/r"
    assert Output.from_dict({"name": "a", "mode": "upload", "unknown": 1}) == Output("a", mode="upload")
