"""The engine on pyarrow: Parquet as it is, and frames with the dtypes that SDK v1 gives."""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet
from tests.support.tables import ENGINES, frame, rows, table, written

from runyard.sdk.tables.engines.arrow import ArrowEngine
from runyard.sdk.tables.problem import TableProblem

ARROW = ENGINES[0]


@pytest.mark.parametrize("engine", ENGINES)
def test_dtypes_of_a_frame(tmp_path: Path, engine: Any) -> None:
    content = "i,gap,f,b,bgap,d,s,nothing\n1,1,0.5,true,true,2020-01-02,x,\n2,,1,No,,,y,\n"
    found = frame(table(written(tmp_path, content), engine))
    assert {name: str(dtype) for name, dtype in found.dtypes.items() if name not in ("s", "nothing")} == {
        "i": "int64",
        "gap": "float64",
        "f": "float64",
        "b": "bool",
        "bgap": "object",
        "d": "datetime64[ns]",
    }
    assert found["s"].tolist() == ["x", "y"]
    assert found["nothing"].isna().all()
    assert list(found.index) == [0, 1]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_frame_can_be_written_to(tmp_path: Path, engine: Any) -> None:
    found = frame(table(written(tmp_path, "a,b\n1,0.5\n2,1.5\n"), engine))
    found.loc[0, "a"] = 7
    found["b"] += 1
    values = found["a"].to_numpy(copy=True)
    values[0] = 3
    assert found.loc[0].tolist() == [7, 1.5]


@pytest.mark.parametrize("engine", ENGINES)
def test_an_empty_result_has_no_columns(tmp_path: Path, engine: Any) -> None:
    paths = written(tmp_path, "a,b\n1,0.5\n")
    assert list(frame(table(paths, engine, None, {"step": "take", "count": 0})).columns) == []


@pytest.mark.parametrize("engine", ENGINES)
def test_times_out_of_range(tmp_path: Path, engine: Any) -> None:
    made = table(written(tmp_path, "d\n9999-12-31\n2020-01-01\n1500-01-01\n"), engine)
    assert rows(made)[0] == {"d": datetime(9999, 12, 31)}
    assert frame(made)["d"].isna().tolist() == [True, False, True]
    with pytest.raises(TableProblem, match=r"9999-12-31.*'d' is outside"):
        frame(made, out_of_range="error")


def test_parquet_keeps_its_types(tmp_path: Path) -> None:
    columns = {
        "i": pa.array([1, 2], pa.int32()),
        "f": pa.array([0.5, None], pa.float32()),
        "l": pa.array([[1], [2, 3]]),
        "z": pa.array([datetime(2020, 1, 1)] * 2, pa.timestamp("us", "UTC")),
        "d": pa.array([datetime(2020, 1, 1).date()] * 2),
        "c": pa.array(["a", "b"]).dictionary_encode(),
    }
    parquet.write_table(pa.table(columns), tmp_path / "a.parquet")
    parquet.write_table(pa.table({"i": [3], "new": ["x"]}), tmp_path / "b.parquet")
    read: dict[str, Any] = {"format": "parquet"}
    one = table([tmp_path / "a.parquet"], ARROW, read)
    found = frame(one)
    assert [str(found[name].dtype) for name in "ifzd"] == ["int32", "float32", "datetime64[ns, UTC]", "object"]
    assert [list(each) for each in found["l"]] == [[1], [2, 3]]
    both = frame(table([tmp_path / "a.parquet", tmp_path / "b.parquet"], ARROW, read))
    assert both["i"].tolist() == [1, 2, 3]
    assert both["new"].tolist()[2] == "x"
    typed = {"format": "parquet", "types": {"i": {"type": "string"}, "f": {"type": "int"}, "l": {"type": "string"}}}
    assert rows(table([tmp_path / "a.parquet"], ARROW, typed))[0]["i"] == "1"


def test_a_file_that_is_no_parquet_is_named(tmp_path: Path) -> None:
    made = table(written(tmp_path, "a,b\n1,2\n"), ARROW, {"format": "parquet"})
    with pytest.raises(TableProblem, match=r"t0\.csv cannot be read as Parquet"):
        rows(made)


def test_types_can_be_changed() -> None:
    engine = ArrowEngine()
    batch = engine.of_values(["a", "b"], {"a": [1, None], "b": ["2020-01-01", "x"]}, 2)
    made = engine.converted(batch, {"a": {"type": "string"}, "b": {"type": "datetime"}, "c": {"type": "int"}}, None)
    assert engine.values(made, "a") == ["1", None]
    assert engine.values(made, "b") == [datetime(2020, 1, 1), None]
    with pytest.raises(TableProblem, match="'x' in the column 'b' is no datetime"):
        engine.converted(batch, {"b": {"type": "datetime"}}, "f.json")


def test_pandas_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(TableProblem, match="pip install pandas`"):
        ArrowEngine().frame(iter([]), "null")
