from __future__ import annotations

import pytest

from runyard.store.errors import DiskFull, NotFound, StoreError, disk_full, run_not_found


def test_an_error_carries_its_code_and_reads_as_title_and_help() -> None:
    error = StoreError("bad_name", "It is wrong.", "Do this.", {"name": "x"})
    assert str(error) == "It is wrong. Do this."
    assert (error.code, error.title, error.help, error.detail) == (
        "bad_name",
        "It is wrong.",
        "Do this.",
        {"name": "x"},
    )
    assert str(StoreError("bad_name", "It is wrong.")) == "It is wrong."


def test_the_detail_of_an_error_is_its_own() -> None:
    detail: dict[str, object] = {"name": "x"}
    error = StoreError("bad_name", "It is wrong.", detail=detail)
    detail["name"] = "y"
    assert error.detail == {"name": "x"}


def test_errors_that_many_raise() -> None:
    missing = run_not_found("run-7")
    assert isinstance(missing, NotFound)
    assert (missing.code, missing.detail) == ("run_not_found", {"run": "run-7"})
    full = disk_full("/data")
    assert isinstance(full, DiskFull)
    with pytest.raises(StoreError, match="no space left on the disk of /data"):
        raise full
