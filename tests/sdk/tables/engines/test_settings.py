"""Records of uneven length keep all their values."""

from __future__ import annotations

from pathlib import Path

import pytest

from runyard.sdk.tables.engines import settings
from runyard.sdk.tables.engines.settings import ReadFile, careful_batches


def test_short_records_end_in_nulls_and_long_ones_add_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "ROWS", 2)
    path = tmp_path / "f"
    path.write_text("a,b\n1,2\n3\n4,5,6\n")
    file = ReadFile(path, "f", names=["a", "b"], header_line=1)
    assert list(careful_batches(file)) == [
        (["a", "b"], [["1", "3"], ["2", None]]),
        (["a", "b", "Column3"], [["4"], ["5"], ["6"]]),
    ]
    assert list(careful_batches(file, skipped=2)) == [(["a", "b", "Column3"], [["4"], ["5"], ["6"]])]
    only = ReadFile(path, "f", names=["a", "b"], header_line=1, needed=frozenset("b"))
    assert next(careful_batches(only)) == (["b"], [["2", None]])
    assert (only.failing, only.type_of("b")) == (None, {"type": "string"})


def test_empty_fields(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("1,\n")
    assert list(careful_batches(ReadFile(path, "f", names=["a", "b"]))) == [(["a", "b"], [["1"], [None]])]
    as_text = ReadFile(path, "f", names=["a", "b"], empty_as_string=True)
    assert list(careful_batches(as_text)) == [(["a", "b"], [["1"], [""]])]
