"""What a table holds, column by column: counts, bounds, means. One pass over the rows, in this process."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import date, datetime
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runyard.sdk.tables.reading import Table


@dataclass
class ColumnProfile:
    """One column. `mean` and `std` are of numbers; `min` and `max` of values that can be ordered."""

    name: str
    type: str = "null"
    count: int = 0
    missing_count: int = 0
    min: Any = None
    max: Any = None
    _sum: float = 0.0
    _squares: float = 0.0  # of the differences from the mean (Welford)
    _numbers: int = 0

    @property
    def not_missing_count(self) -> int:
        return self.count - self.missing_count

    @property
    def mean(self) -> float | None:
        return self._sum / self._numbers if self._numbers else None

    @property
    def std(self) -> float | None:
        return math.sqrt(self._squares / (self._numbers - 1)) if self._numbers > 1 else None

    def add(self, values: list[Any]) -> None:
        self.count += len(values)
        for value in values:
            if value is None:
                self.missing_count += 1
                continue
            self.type = type(value).__name__
            if isinstance(value, (bool, int, float)) and math.isfinite(value):
                before = self._sum / self._numbers if self._numbers else 0.0
                self._numbers += 1
                self._sum += value
                self._squares += (value - before) * (value - self._sum / self._numbers)
            self._bound(value)

    def _bound(self, value: Any) -> None:
        if not isinstance(value, (int, float, str, date, datetime)) or value != value:
            return
        try:
            self.min = value if self.min is None or value < self.min else self.min
            self.max = value if self.max is None or value > self.max else self.max
        except TypeError:  # of several types
            return


@dataclass
class DatasetProfile:
    """The columns of a table, and how many rows it has."""

    columns: dict[str, ColumnProfile] = field(default_factory=dict)
    row_count: int = 0

    def _repr_html_(self) -> str:
        heads = ("column", "type", "count", "missing", "min", "max", "mean", "std")
        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in _cells(each)) + "</tr>"
            for each in self.columns.values()
        )
        return f"<table><tr>{''.join(f'<th>{head}</th>' for head in heads)}</tr>{rows}</table>"

    def __repr__(self) -> str:
        lines = ["\t".join(map(str, _cells(each))) for each in self.columns.values()]
        return "\n".join([f"DatasetProfile of {self.row_count:,} rows", *lines])


def profiled(table: Table) -> DatasetProfile:
    """The profile of a table."""
    found = DatasetProfile()
    for batch in table.batches():
        names = table.engine.names(batch)
        for name in names:
            if name not in found.columns:
                found.columns[name] = ColumnProfile(name, count=found.row_count, missing_count=found.row_count)
            found.columns[name].add(table.engine.values(batch, name))
        rows = table.engine.length(batch)
        found.row_count += rows
        for name in set(found.columns) - set(names):
            found.columns[name].add([None] * rows)
    return found


def _cells(each: ColumnProfile) -> tuple[Any, ...]:
    return each.name, each.type, each.count, each.missing_count, each.min, each.max, each.mean, each.std
