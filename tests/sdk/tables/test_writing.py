"""Tables into files: what is read back is what was written, and a name of a folder stays within its folder."""

from __future__ import annotations

import sys
from datetime import datetime, timezone
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.tables import ENGINES, rows, table, written

from runyard.sdk.tables import writing
from runyard.sdk.tables.problem import TableProblem
from runyard.sdk.tables.writing import folder_name, write_csv, write_parquet, write_partitions

ARROW = ENGINES[0]
TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12)
VALUES = st.tuples(
    st.none() | st.integers(-(2**63), 2**63 - 1),
    st.none() | st.floats(allow_nan=False, allow_infinity=False),
    st.none() | TEXTS.filter(bool) | st.sampled_from(['a,"b', '"', ",", "é\t"]),
    st.none() | st.datetimes(datetime(1, 1, 1), datetime(9999, 1, 1)),
    st.none() | st.booleans(),
)
TYPES = {
    "i": {"type": "int"},
    "f": {"type": "float"},
    "s": {"type": "string"},
    "d": {"type": "datetime", "formats": ["iso"]},
    "b": {"type": "bool"},
}


@settings(deadline=None, max_examples=30)
@given(st.lists(VALUES, min_size=1, max_size=20), st.sampled_from(ENGINES), st.sampled_from([",", ";", "\t"]))
def test_csv_is_read_back_as_it_was(values: list[Any], engine: Any, separator: str) -> None:
    """A line of nothing but nulls is an empty line only where there is one column: here there are six."""
    columns: dict[str, list[Any]] = {"n": list(range(len(values)))}
    columns.update({name: [row[at] for row in values] for at, name in enumerate("ifsdb")})
    batch = engine.of_values(list(columns), columns, len(values))
    with TemporaryDirectory() as folder:
        [path] = write_csv(_Of(engine, batch), Path(folder), separator)  # type: ignore[arg-type]
        read = {"separator": separator, "infer": False, "types": {**TYPES, "n": {"type": "int"}}}
        found = rows(table([path], engine, read))
    assert found == [dict(zip(["n", *"ifsdb"], (at, *row), strict=True)) for at, row in enumerate(values)]


class _Of:
    """A table of one batch."""

    def __init__(self, engine: Any, batch: Any) -> None:
        self.engine, self.batch = engine, batch

    def batches(self) -> Any:
        return iter([self.batch])


@pytest.mark.parametrize("engine", ENGINES)
def test_records_of_other_columns_begin_a_new_file(
    tmp_path: Path, engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runyard.sdk.tables.engines.settings.ROWS", 2)
    paths = written(tmp_path, "a,b\n1,2\n3,4\n5,6,7\n")
    made = table(paths, engine, {"infer": False})
    assert [path.read_text() for path in write_csv(made, tmp_path, ",")] == ["a,b\n1,2\n3,4\n", "a,b,Column3\n5,6,7\n"]
    parquet = write_parquet(made, tmp_path)
    assert [path.name for path in parquet] == ["part-0.parquet", "part-1.parquet"]
    assert [row["a"] for row in rows(table(parquet, ARROW, {"format": "parquet"}))] == ["1", "3", "5"]


def test_times_have_their_zone(tmp_path: Path) -> None:
    batch = ARROW.of_values(["t"], {"t": [datetime(2020, 1, 1, tzinfo=timezone.utc)]}, 1)
    [path] = write_csv(_Of(ARROW, batch), tmp_path, "\t")  # type: ignore[arg-type]
    assert (path.suffix, path.read_text()) == (".tsv", "t\n2020-01-01T00:00:00+00:00\n")


def test_partitions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "MOST_OPEN", 2)
    lines = [f"{number},{number % 5 or ''},x{number % 2}" for number in range(100)]
    made = table(written(tmp_path, "n,k,l\n" + "\n".join(lines)), ARROW)
    assert write_partitions(made, tmp_path / "out", ["k", "l"]) == 100
    found = sorted((tmp_path / "out").rglob("*.parquet"))
    assert {str(path.parent.relative_to(tmp_path / "out")) for path in found} >= {"null/x0", "1/x1"}
    assert sorted(row["n"] for row in rows(table(found, ARROW, {"format": "parquet"}))) == list(range(100))
    with pytest.raises(TableProblem, match="no column 'x'"):
        write_partitions(made, tmp_path, ["x"])


@given(TEXTS)
def test_names_of_folders_stay_in_their_folder(text: str) -> None:
    name = folder_name(text)
    assert "/" not in name
    assert name not in ("", ".", "..")


def test_pyarrow_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(TableProblem, match="pip install pyarrow"):
        write_parquet(table(written(tmp_path, "a\n1\n"), ENGINES[1]), tmp_path)
