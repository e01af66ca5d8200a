"""Profiles: a wrong mean or count is worse than none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.support.tables import ENGINES, pandas, table, written

from runyard.sdk.tables.profile import profiled


@pytest.mark.parametrize("engine", ENGINES)
def test_a_profile_agrees_with_pandas(tmp_path: Path, engine: Any) -> None:
    frame = pandas.DataFrame({"a": [1, 2, 4, 100], "s": ["b", None, "a", "c"]})
    paths = written(tmp_path, frame.to_csv(index=False), "a,s\n7,d,1\n")
    found = profiled(table(paths, engine, {"header": "combined"}))
    numbers = pandas.Series([1, 2, 4, 100, 7])
    a, s = found.columns["a"], found.columns["s"]
    assert (found.row_count, a.count, a.missing_count, a.min, a.max, a.type) == (5, 5, 0, 1, 100, "int")
    assert a.mean == pytest.approx(numbers.mean())
    assert a.std == pytest.approx(numbers.std())
    assert (s.min, s.max, s.missing_count, s.not_missing_count, s.mean, s.std) == ("a", "d", 1, 4, None, None)
    assert (found.columns["Column3"].count, found.columns["Column3"].missing_count) == (5, 4)
    assert "<td>a</td>" in found._repr_html_()
    assert "5 rows" in repr(found)
