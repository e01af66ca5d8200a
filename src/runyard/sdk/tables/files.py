"""The files that a table is read from, on this machine: where they lie, or fetched once per process.

What was fetched is kept in a temporary folder until the process ends, so that a table that is looked at, split and read
is fetched once.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Sequence

from runyard.client.data_files import AT_ONCE, TransferProblem, bring, is_here
from runyard.client.http import quote
from runyard.contracts.data import datasets as contract
from runyard.sdk.tables.problem import TableProblem

if TYPE_CHECKING:
    from runyard.sdk.workspace.workspace import Workspace

_lock = threading.Lock()
_folder: list[Path] = []


@dataclass(frozen=True)
class TableFile:
    """A file of a table. `shown` is its address, or its path in the datastore: what `include_path` gives."""

    path: Path
    shown: str


def table_files(
    workspace: Workspace, listed: Sequence[Mapping[str, Any]], definition: contract.Definition
) -> Iterator[TableFile]:
    """The files of a listing in their order; what must be fetched is fetched when it is come to, several at once."""
    shown = [shown_path(definition, each) for each in listed]
    for begin in range(0, len(listed), AT_ONCE):
        window = listed[begin : begin + AT_ONCE]
        paths = _paths(workspace, window)
        yield from (TableFile(path, shown[begin + number]) for number, path in enumerate(paths))


def shown_path(definition: contract.Definition, each: Mapping[str, Any]) -> str:
    """The address of a file, or `/` and its path in the datastore."""
    source = str(each["source"])
    if definition.sources[0].url is not None:
        return source
    path = str(each["path"])
    if definition.several:
        return "/" + path[1:].partition("/")[2]
    wanted = contract.normal(definition.sources[0].path)
    if contract.is_pattern(wanted):
        begin = contract.base(wanted)
    else:
        begin = wanted.rpartition("/")[0] if wanted.rpartition("/")[2] == path[1:] else wanted
    return f"/{begin}{path}" if begin else path


def _paths(workspace: Workspace, window: Sequence[Mapping[str, Any]]) -> list[Path]:
    paths, missing = [], []
    for each in window:
        place = Path(str(each["local"])) if is_here(each) else _place(each)
        paths.append(place)
        if not place.exists():
            missing.append((each, place))
    if not missing:
        return paths

    def fetch(address: str, place: Path) -> None:
        where = f"/api/workspaces/{quote(workspace.name)}/{address}"
        with workspace.service.stream(where) as answer, place.open("wb") as file:
            for piece in answer:
                file.write(piece)

    try:
        bring([each for each, _ in missing], [place for _, place in missing], fetch, link=True)
    except TransferProblem as problem:
        raise TableProblem(problem.message, problem.help) from None
    return paths


def _place(each: Mapping[str, Any]) -> Path:
    """Where a file is kept once it was fetched: named by what it was when it was listed."""
    facts = [str(each.get(name)) for name in ("source", "path", "url", "size", "etag", "modified")]
    told = each.get("etag") or each.get("modified")
    key = hashlib.sha256("\n".join(facts if told else [*facts, os.urandom(16).hex()]).encode()).hexdigest()
    return _temporary() / key


def _temporary() -> Path:
    with _lock:
        if not _folder:
            _folder.append(Path(tempfile.mkdtemp(prefix="runyard-tables-")))
            atexit.register(shutil.rmtree, _folder[0], ignore_errors=True)
        return _folder[0]
