"""Tables of files that a test wrote, on either engine, with no server."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from runyard.sdk.tables.engines.arrow import ArrowEngine
from runyard.sdk.tables.engines.base import Engine
from runyard.sdk.tables.engines.plain import PlainEngine
from runyard.sdk.tables.files import TableFile
from runyard.sdk.tables.reading import Table

ENGINES: list[Any] = [ArrowEngine(), PlainEngine()]
DELIMITED = {"format": "delimited", "separator": ",", "header": "same", "encoding": "utf8"}
JSON = {"format": "json", "invalid_lines": "error", "encoding": "utf8"}

pandas: Any = importlib.import_module("pandas")
"""Untyped here: it has no types of its own."""


def written(folder: Path, *contents: bytes | str, suffix: str = ".csv") -> list[Path]:
    paths = []
    for number, content in enumerate(contents):
        path = folder / f"t{number}{suffix}"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        paths.append(path)
    return paths


def table(paths: list[Path], engine: Engine[Any], read: dict[str, Any] | None = None, *steps: dict[str, Any]) -> Table:
    """A table of files; `read` is added to the usual settings of delimited files, unless it has a format."""
    settings = read if read and "format" in read else {**DELIMITED, **(read or {})}
    definition = {"read": settings, "steps": list(steps)}
    return Table(definition, lambda: [TableFile(path, str(path)) for path in paths], engine)


def frame(made: Table, fail: bool = False, out_of_range: str = "null", whole: bool = True) -> Any:
    return made.engine.frame(made.batches(fail, whole), out_of_range)


def rows(made: Table, fail: bool = False, whole: bool = False) -> list[dict[str, Any]]:
    """All rows as Python values."""
    found: list[dict[str, Any]] = []
    for batch in made.batches(fail, whole):
        names = made.engine.names(batch)
        columns = [made.engine.values(batch, name) for name in names]
        found += [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
    return found
