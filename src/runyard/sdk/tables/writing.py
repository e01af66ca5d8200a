"""Writing a table into files, batch by batch: CSV, Parquet, and Parquet in a folder for each value of some columns.

Where the columns of a batch differ from those before it (a record that was longer than the others), a new file begins.
"""

from __future__ import annotations

import csv
from contextlib import ExitStack
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Sequence
from urllib.parse import quote

from runyard.sdk.tables.problem import TableProblem, needs

if TYPE_CHECKING:
    from runyard.sdk.tables.reading import Table

MOST_OPEN = 64
"""Files of partitions that are written to at once."""
NULL_FOLDER = "null"


def write_csv(table: Table, folder: Path, separator: str) -> list[Path]:
    """Delimited files with a header: null is empty, times are ISO 8601 in UTC."""
    paths: list[Path] = []
    names: list[str] | None = None
    suffix = ".tsv" if separator == "\t" else ".csv"
    with ExitStack() as stack:
        writer: Any = None
        for batch in table.batches():
            if not table.engine.length(batch):
                continue
            if table.engine.names(batch) != names:
                names = table.engine.names(batch)
                paths.append(folder / f"part-{len(paths)}{suffix}")
                file = stack.enter_context(paths[-1].open("w", encoding="utf-8", newline=""))
                writer = csv.writer(file, delimiter=separator, lineterminator="\n")
                writer.writerow(names)
            columns = [[_text(value) for value in table.engine.values(batch, name)] for name in names or ()]
            writer.writerows(zip(*columns))
    return paths


def _text(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat() + ("" if value.tzinfo else "+00:00")
    return value.isoformat() if isinstance(value, date) else value


def write_parquet(table: Table, folder: Path) -> list[Path]:
    """Parquet files with the types of the columns."""
    pa, parquet = _pyarrow()
    paths: list[Path] = []
    schema: Any = None
    with ExitStack() as stack:
        for batch in table.batches():
            made = batch if isinstance(batch, pa.Table) else pa.table(dict(batch.columns))
            if not made.num_rows:
                continue
            if schema is None or not made.schema.equals(schema):
                schema = made.schema
                paths.append(folder / f"part-{len(paths)}.parquet")
                writer = stack.enter_context(parquet.ParquetWriter(str(paths[-1]), schema))
            writer.write_table(made)
    return paths


def write_partitions(table: Table, folder: Path, keys: Sequence[str]) -> int:
    """Parquet files in a folder for each combination of the keys' values; returns how many rows were written."""
    pa, parquet = _pyarrow()
    import pyarrow.compute as pc

    parts: dict[Path, int] = {}
    writers: dict[tuple[Path, Any], Any] = {}
    rows = 0
    try:
        for batch in table.batches():
            missing = [key for key in keys if key not in batch.schema.names]
            if missing:
                raise TableProblem(f"The table has no column {missing[0]!r} to partition by.")
            rest = [name for name in batch.schema.names if name not in keys]
            values = list(zip(*(table.engine.values(batch, key) for key in keys)))
            numbers = {value: number for number, value in enumerate(dict.fromkeys(values))}
            which = pa.array([numbers[value] for value in values])
            for value, number in numbers.items():
                place = folder.joinpath(*map(folder_name, value))
                chosen = batch.filter(pc.equal(which, number)).select(rest)
                writer = writers.pop((place, chosen.schema), None)
                if writer is None:
                    if len(writers) == MOST_OPEN:
                        writers.pop(next(iter(writers))).close()
                    place.mkdir(parents=True, exist_ok=True)
                    at = parts[place] = parts.get(place, -1) + 1
                    writer = parquet.ParquetWriter(str(place / f"part-{at}.parquet"), chosen.schema)
                writers[place, chosen.schema] = writer  # the last that was used comes last
                writer.write_table(chosen)
                rows += chosen.num_rows
    finally:
        for writer in writers.values():
            writer.close()
    return rows


def folder_name(value: object) -> str:
    """A value as the name of a folder.

    >>> folder_name("a/b"), folder_name(None), folder_name("..")
    ('a%2Fb', 'null', '%2E%2E')
    """
    if value is None or value == "":
        return NULL_FOLDER
    text = value.isoformat() if isinstance(value, (date, datetime)) else str(value)
    made = quote(text, safe=" -_.,()+=@")
    return made.replace(".", "%2E") if set(made) <= {"."} else made[:200]


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise needs("pyarrow", "Writing Parquet") from None
    return pyarrow, parquet
