"""Delimited files through pyarrow: the fast ways give what the careful one gives, row for row."""

from __future__ import annotations

import random
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.tables import ENGINES, rows, table, written

from runyard.contracts.data.tables import CODECS
from runyard.sdk.tables.engines import arrow_delimited
from runyard.sdk.tables.problem import TableProblem

ARROW, PLAIN = ENGINES
CELLS = st.sampled_from(
    ["1", "2.5", "", "x", '"a,b"', '"q""q"', '"open', '"a"b', "true", "2020-01-02", "é", '"l\nb"', " "]
)
LINES = st.lists(st.lists(CELLS, min_size=1, max_size=4).map(",".join), max_size=8)


@settings(deadline=None, max_examples=50)
@given(LINES, st.booleans(), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_whatever_is_in_a_file_both_engines_read_the_same(
    lines: list[str], multi_line: bool, end: str, whole: bool
) -> None:
    if multi_line:  # a quote that is open to the end of the file is no table: each engine may take it as it likes
        lines = [line.replace('"open', "open") for line in lines]
    read = {"multi_line": multi_line}
    with TemporaryDirectory() as folder:
        paths = written(Path(folder), end.join(["a,b,c", *lines]))
        assert rows(table(paths, ARROW, read), whole=whole) == rows(table(paths, PLAIN, read))


def many(count: int, **changed: str) -> str:
    lines = [f"{number},{number / 2},t{number},2020-01-02" for number in range(count)]
    for at, line in changed.items():
        lines[int(at[1:])] = line
    return "\n".join(["i,f,s,d", *lines, ""])


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize(
    "broken",
    [
        {},
        {"r4000": "x,y,z,w"},
        {"r4000": "1.9,NA,,1/2/2020"},
        {"r4000": "1"},
        {"r4000": "1,2,3,4,5"},
        {"r4000": '1,2,"a', "r4001": 'b",2020-01-02'},
        {"r100": "x,,,", "r4000": "1"},
        {"r4000": f"1,2,{'y' * 100_000},"},
    ],
)
def test_a_late_line_that_does_not_fit_costs_no_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: dict[str, str], whole: bool
) -> None:
    """The reader hands over in the middle: no row is lost, given twice, or moved."""
    monkeypatch.setattr(arrow_delimited, "BLOCK", 1 << 14)
    paths = written(tmp_path, many(5000, **broken), many(10))
    assert known(rows(table(paths, ARROW), whole=whole)) == known(rows(table(paths, PLAIN)))


def known(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows without their nulls: a column that a long record adds is in the batches that have it."""
    return [{name: value for name, value in row.items() if value is not None} for row in found]


@pytest.mark.parametrize("encoding", ["utf16", "latin1", "windows1252", "utf32", "utf8bom"])
def test_encodings(tmp_path: Path, encoding: str) -> None:
    paths = written(tmp_path, "näme,x\né,1\n".encode(CODECS[encoding]))
    assert rows(table(paths, ARROW, {"encoding": encoding})) == [{"näme": "é", "x": 1}]


@pytest.mark.parametrize("engine", ENGINES)
def test_bytes_that_are_no_text_are_an_error_with_file_and_line(tmp_path: Path, engine: Any) -> None:
    paths = written(tmp_path, b"a,b\n1,2\n" + b"3,4\n" * 1000 + b"\xff\xfe,1\n")
    with pytest.raises(TableProblem, match=r"t0\.csv: line 1,003 cannot be read as utf8"):
        rows(table(paths, engine, {"infer": False}))
    with pytest.raises(TableProblem, match=r"t0\.csv: line 1 cannot be read as utf8.*not unpacked"):
        rows(table(written(tmp_path, b"\x1f\x8b" + random.Random(1).randbytes(5000)), engine))


@pytest.mark.parametrize("engine", ENGINES)
def test_columns_that_are_not_asked_for_are_not_read(tmp_path: Path, engine: Any) -> None:
    paths = written(tmp_path, "a,b,c\n1,2,3\n4,5,6\n")
    keep = {"step": "keep", "columns": ["c", "a"]}
    assert rows(table(paths, engine, None, keep)) == [{"a": 1, "c": 3}, {"a": 4, "c": 6}]
    assert (
        rows(table(paths, engine, {"include_path": True}, {"step": "keep", "columns": ["Path"]}))
        == [{"Path": str(paths[0])}] * 2
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_a_separator_of_any_kind(tmp_path: Path, engine: Any) -> None:
    for separator in ("\t", ";", "§", "|"):
        paths = written(tmp_path, f"a{separator}b\n1{separator}2\n")
        assert rows(table(paths, engine, {"separator": separator})) == [{"a": 1, "b": 2}]
