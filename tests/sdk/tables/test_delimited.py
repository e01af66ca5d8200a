"""Delimited files line by line: whatever is in the file, a row is not lost, and an error names the line."""

from __future__ import annotations

from pathlib import Path

import pytest

from runyard.sdk.tables.delimited import Dialect, column_names, lines, records, split, widened
from runyard.sdk.tables.problem import TableProblem


def of(path: Path, content: bytes, codec: str = "utf-8-sig", multi_line: bool = False) -> list[list[str]]:
    path.write_bytes(content)
    return [fields for _, fields in records(path, Dialect(",", codec, multi_line, codec), "f.csv")]


def test_records(tmp_path: Path) -> None:
    path = tmp_path / "f"
    assert of(path, b"\xef\xbb\xbfa,b\r\n\r\n1,2\n3,4\r5") == [["a", "b"], ["1", "2"], ["3", "4"], ["5"]]
    assert of(path, b"") == []
    assert of(path, b'a,"x\ny"\nb,2\n') == [["a", '"x'], ['y"'], ["b", "2"]]
    assert of(path, b'a,"x\ny"\nb,2\n', multi_line=True) == [["a", "x\ny"], ["b", "2"]]
    assert of(path, b'a,"x\n', multi_line=True) == [["a", '"x']]


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        ("a,,c", ["a", "", "c"]),
        (",", ["", ""]),
        ('"a,b",c', ["a,b", "c"]),
        ('"a""b"', ['a"b']),
        ('""', [""]),
        ('a"b,c', ['a"b', "c"]),
        ('"a"b,c', ["ab", "c"]),
        ('"a,"b,c', ["a,b", "c"]),
        ('"a,b', ['"a', "b"]),
        ('"",""', ["", ""]),
        (' "a",b', [' "a"', "b"]),
    ],
)
def test_fields(line: str, fields: list[str]) -> None:
    assert split(line, ",") == fields


@pytest.mark.parametrize("codec", ["utf-16", "utf-32", "cp1252", "iso-8859-1", "utf-8-sig"])
def test_encodings(tmp_path: Path, codec: str) -> None:
    assert of(tmp_path / "f", "a,é\n1,ü".encode(codec), codec) == [["a", "é"], ["1", "ü"]]


@pytest.mark.parametrize(("codec", "content"), [("utf-8-sig", b"a\nb\n\xff\n"), ("utf-16", b"\xff\xfea\x00\n\x00\x00")])
def test_a_line_that_cannot_be_decoded_is_named(tmp_path: Path, codec: str, content: bytes) -> None:
    path = tmp_path / "f"
    path.write_bytes(content)
    with pytest.raises(TableProblem, match=r"f\.csv: line \d cannot be read as enc .*encoding='latin1'"):
        list(lines(path, codec, "enc", "f.csv"))


def test_endless_lines_are_refused_before_they_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runyard.sdk.tables.delimited.LONGEST_LINE", 100)
    path = tmp_path / "f"
    for codec in ("utf-8-sig", "utf-16"):
        path.write_bytes(("x" * 1000).encode(codec))
        with pytest.raises(TableProblem, match="line 1 is longer"):
            list(lines(path, codec, "e", "f.csv"))
    path.write_bytes(b'"a\n' + b"b\n" * 100)
    with pytest.raises(TableProblem, match="opened in line 1 is not closed"):
        list(records(path, Dialect(",", "utf-8-sig", True, "utf8"), "f.csv"))


def test_names_of_columns() -> None:
    assert column_names(["a", "a", " a ", "", "a_1"]) == ["a", "a_1", "a_2", "Column4", "a_1_1"]
    assert widened(["Column2"], 2) == ["Column2", "Column2_1"]
