"""The seam between reading a table and how rows are held: an engine holds a batch of rows and works on its columns.

`arrow.ArrowEngine` holds them in pyarrow, and is used where that is installed; `plain.PlainEngine` in lists. Steps and
formats are written once, on this seam.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Generic, Iterator, Mapping, Sequence, TypeVar

if TYPE_CHECKING:
    from runyard.sdk.tables.column_types import Type
    from runyard.sdk.tables.engines.settings import ReadFile

Batch = TypeVar("Batch")

ERRORS = "\0errors of "
"""A hidden column with the texts of a column that did not fit its type begins with this; its name follows."""


class Engine(ABC, Generic[Batch]):
    """Rows in batches. A batch is never changed."""

    @abstractmethod
    def delimited(self, file: ReadFile) -> Iterator[Batch]:
        """The rows of a delimited file, with the types that the file is to be read with."""

    @abstractmethod
    def parquet(self, file: ReadFile) -> Iterator[Batch]:
        """The rows of a Parquet file."""

    @abstractmethod
    def of_values(self, names: Sequence[str], columns: Mapping[str, list[Any]], length: int) -> Batch:
        """Rows out of Python values."""

    @abstractmethod
    def converted(self, batch: Batch, types: Mapping[str, Type], fail: str | None) -> Batch:
        """The rows with some columns in other types. What does not fit is null; with `fail`, a name for the file in
        the error, it is an error."""

    @abstractmethod
    def in_front(self, batch: Batch, columns: Mapping[str, Any]) -> Batch:
        """The rows with columns before the others that have one value each: a text, a time or None."""

    @abstractmethod
    def names(self, batch: Batch) -> list[str]: ...

    @abstractmethod
    def length(self, batch: Batch) -> int: ...

    @abstractmethod
    def select(self, batch: Batch, names: Sequence[str]) -> Batch: ...

    @abstractmethod
    def cut(self, batch: Batch, begin: int, length: int) -> Batch: ...

    @abstractmethod
    def masked(self, batch: Batch, mask: Any) -> Batch:
        """The rows where the mask is true; it is a sequence of bools, or what `condition` gives."""

    @abstractmethod
    def condition(self, batch: Batch, expression: Mapping[str, Any]) -> Any:
        """Whether an expression is true, for each row."""

    @abstractmethod
    def values(self, batch: Batch, name: str) -> list[Any]:
        """A column as Python values."""

    @abstractmethod
    def frame(self, batches: Iterator[Batch], out_of_range: str) -> Any:
        """All rows as a pandas DataFrame. `out_of_range` is 'null' or 'error', for times that pandas cannot hold."""


def chosen_engine() -> Engine[Any]:
    """The engine for this environment: pyarrow's where it is installed."""
    if find_spec("pyarrow") is not None:
        from runyard.sdk.tables.engines.arrow import ArrowEngine

        return ArrowEngine()
    from runyard.sdk.tables.engines.plain import PlainEngine

    return PlainEngine()
