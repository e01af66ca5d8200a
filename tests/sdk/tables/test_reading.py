"""Tables through their steps: rows in order, none lost, and the same on both engines."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.tables import ENGINES, JSON, frame, pandas, rows, table, written

from runyard.sdk.tables.expressions import column
from runyard.sdk.tables.problem import TableProblem

both = pytest.mark.parametrize("engine", ENGINES)


def numbers(folder: Path, count: int = 100) -> list[Path]:
    return written(
        folder, "n\n" + "\n".join(map(str, range(count))), "n\n" + "\n".join(map(str, range(count, 2 * count)))
    )


def of(made: Any, name: str = "n") -> list[Any]:
    return [row[name] for row in rows(made)]


@both
def test_take_and_skip_cross_files(tmp_path: Path, engine: Any) -> None:
    paths = numbers(tmp_path)
    assert of(table(paths, engine, None, {"step": "skip", "count": 95}, {"step": "take", "count": 10})) == [
        *range(95, 105)
    ]
    assert of(table(paths, engine, None, {"step": "skip", "count": 500})) == []


@both
def test_types_are_those_of_the_first_200_rows(tmp_path: Path, engine: Any) -> None:
    paths = written(tmp_path, "a\n" + "1\n" * 150, "a\n" + "1\n" * 49 + "1.5\n" + "x\n" + "2.7\n")
    assert of(table(paths, engine), "a")[-3:] == [1.5, None, 2.7]
    later = written(tmp_path, "a\n" + "1\n" * 200 + "1.5\nx\n")
    assert of(table(later, engine), "a")[-2:] == [1, None]
    with pytest.raises(TableProblem, match="'x' in the column 'a' is no int"):
        rows(table(later, engine), fail=True)


@both
@pytest.mark.parametrize(
    ("header", "found"),
    [
        ("same", [{"a": "1", "b": "2"}, {"a": "3", "b": "4"}]),
        ("combined", [{"a": "1", "b": "2"}, {"b": "3", "c": "4"}]),
        ("first", [{"a": "1", "b": "2"}, {"a": "b", "b": "c"}, {"a": "3", "b": "4"}]),
        ("none", [{"Column1": left, "Column2": right} for left, right in ("ab", "12", "bc", "34")]),
    ],
)
def test_headers(tmp_path: Path, engine: Any, header: str, found: list[dict[str, str]]) -> None:
    paths = written(tmp_path, "a,b\n1,2\n", "\nb,c\n3,4\n")
    assert rows(table(paths, engine, {"header": header, "infer": False})) == found


@both
def test_columns_out_of_paths_come_first(tmp_path: Path, engine: Any) -> None:
    (tmp_path / "2020-07").mkdir()
    paths = written(tmp_path / "2020-07", "a\n1\n")
    read = {"include_path": True, "partition_format": "/{month:yyyy-MM}/{file}.csv"}
    made = table(paths, engine, read)
    assert list(rows(made)[0].items()) == [
        *(("Path", str(paths[0])), ("month", datetime(2020, 7, 1)), ("file", "t0"), ("a", 1))
    ]
    assert str(frame(made)["month"].dtype) == "datetime64[ns]"


@both
def test_json_lines(tmp_path: Path, engine: Any) -> None:
    content = '{"a": 1, "b": {"c": 2}}\n\n{"a": 1.5, "d": [1, 2], "m": "x"}\n{"m": 3}\n'
    found = frame(table(written(tmp_path, content), engine, JSON))
    assert found["a"].tolist()[:2] == [1.0, 1.5]
    assert found["b"][0] == {"c": 2}
    assert list(found["d"][1]) == [1, 2]
    assert found["m"].tolist()[1:] == ["x", 3]
    broken = written(tmp_path, '{"a": 1}\n{"a": \n[1]\n')
    with pytest.raises(TableProblem, match=r"t0\.csv: line 2 is no JSON object"):
        rows(table(broken, engine, JSON))
    assert rows(table(broken, engine, {**JSON, "invalid_lines": "drop"})) == [{"a": 1}]


@both
def test_columns_kept_and_dropped(tmp_path: Path, engine: Any) -> None:
    paths = written(tmp_path, "a,b,c\n1,2,3\n")
    assert rows(table(paths, engine, None, {"step": "drop", "columns": ["b", "x"]})) == [{"a": 1, "c": 3}]
    over = {"step": "filter", "expression": (column("b") == 2).document}
    assert rows(table(paths, engine, None, over, {"step": "keep", "columns": ["c", "x"]})) == [{"c": 3}]
    gone = {"step": "filter", "expression": (column("b") > 0).document}
    assert rows(table(paths, engine, None, {"step": "keep", "columns": ["a"]}, gone)) == []
    with pytest.raises(TableProblem, match=r"none of the columns 'x'. It has: a, b, c"):
        rows(table(paths, engine, None, {"step": "keep", "columns": ["x"]}))
    assert len(frame(table(paths, engine, None, {"step": "drop", "columns": ["a", "b", "c"]})).columns) == 0


@both
def test_errors_can_be_filtered(tmp_path: Path, engine: Any) -> None:
    paths = written(tmp_path, "a,b\n" + "1,1\n" * 200 + "x,7\n,8\n")
    step = {"step": "filter", "expression": column("a").is_error().document}
    made = table(paths, engine, None, step)
    assert frame(made).values.tolist()[0][1] == 7
    assert list(frame(made).columns) == ["a", "b"]
    assert len(rows(made)) == 1


@settings(deadline=None, max_examples=25)
@given(
    st.lists(
        st.tuples(st.one_of(st.none(), st.integers(-100, 100)), st.floats(-10, 10, width=32)), min_size=1, max_size=60
    ),
    st.integers(-100, 100),
    st.floats(0, 1),
    st.integers(0, 2**31),
    st.sampled_from(ENGINES),
)
def test_filters_equal_those_of_pandas_and_splits_are_complete(
    values: list[Any], bound: int, part: float, seed: int, engine: Any
) -> None:
    original = pandas.DataFrame({"id": range(len(values)), "a": [a for a, _ in values], "b": [b for _, b in values]})
    with TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        original.to_csv(path, index=False)
        expression = (column("a") > bound) | (column("b") <= bound / 10) & ~(column("id") == 3)
        step = {"step": "filter", "expression": expression.document}
        wanted = original[(original.a.astype(float) > bound) | (original.b <= bound / 10) & ~(original.id == 3)]
        assert of(table([path], engine, None, step), "id") == wanted.id.tolist()
        split = {"step": "sample", "probability": part, "seed": seed}
        one, other = (of(table([path], engine, None, {**split, "rest": rest}), "id") for rest in (False, True))
        assert sorted(one + other) == list(range(len(values)))
        assert one == of(table([path], engine, None, split), "id")
