"""If these fail, the benchmark of data measures something else than what it says."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.children.use_data import read_all
from benchmarks.measure import Failed
from benchmarks.object_server import Bucket

from benchmarks import data, listing


def test_the_files_are_as_many_and_as_large_as_said_and_differ(tmp_path: Path) -> None:
    data.fill(tmp_path, 250, 100)
    found = [path.read_bytes() for path in tmp_path.rglob("*.bin")]
    assert (len(found), len(set(found)), {len(each) for each in found}) == (250, 250, {100})
    read = read_all(tmp_path, 0.0)
    assert read["bytes"] == 25_000
    assert 0 < read["first"] < read["seconds"]


def test_all_names_are_counted(tmp_path: Path) -> None:
    listing.fill(tmp_path / "names", 1_500)
    command = ["find", str(tmp_path / "names"), "-type", "f"]
    assert listing._counted(1_500, command)[0] > 0
    with pytest.raises(Failed, match="1,500 of 1,501"):
        listing._counted(1_501, command)


def test_accounts_of_the_caller_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "mine")
    variables = Bucket("http://127.0.0.1:9", 1, 1).rclone
    assert "AWS_SECRET_ACCESS_KEY" not in variables
    assert variables["RCLONE_CONFIG_S3_ENDPOINT"] == "http://127.0.0.1:9"
