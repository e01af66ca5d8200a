"""The files that a table is read from, on this machine: where they lie, or fetched through the machine's cache.

What was fetched is linked in a temporary folder until the process ends, and the cache does not let go of it.
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

from runyard.client.data.cache import FOLDER, Cache
from runyard.client.data.listing import Listing
from runyard.client.data_files import AT_ONCE, is_here
from runyard.contracts.data import datasets as contract
from runyard.contracts.home import home

if TYPE_CHECKING:
    from runyard.client.data.cache import Lease
    from runyard.sdk.data.file_dataset import FileDataset

_lock = threading.Lock()
_kept: dict[int, tuple[Path, Lease]] = {}  # by process: a fork has its own


@dataclass(frozen=True)
class TableFile:
    """A file of a table. `shown` is its address, or its path in the datastore: what `include_path` gives."""

    path: Path
    shown: str


def table_files(
    files: FileDataset, listed: Sequence[Mapping[str, Any]], definition: contract.Definition
) -> Iterator[TableFile]:
    """The files of a listing in their order; what must be fetched is fetched when it is come to, several at once."""
    for begin in range(0, len(listed), AT_ONCE):
        window = listed[begin : begin + AT_ONCE]
        for each, path in zip(window, _paths(files, window)):
            yield TableFile(path, shown_path(definition, each))


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


def _paths(files: FileDataset, window: Sequence[Mapping[str, Any]]) -> list[Path]:
    paths, missing = [], []
    for each in window:
        place = Path(str(each["local"])) if is_here(each) else _place(each)
        paths.append(place)
        if not place.exists():
            missing.append((dict(each), place))
    if missing:
        wanted = Listing([each for each, _ in missing], False, False)
        files._bring(wanted, [place for _, place in missing], _links()[1])
    return paths


def _place(each: Mapping[str, Any]) -> Path:
    """Where a file is linked once it was fetched: named by what it was when it was listed."""
    facts = [str(each.get(name)) for name in ("source", "path", "url", "size", "etag", "modified")]
    told = each.get("etag") or each.get("modified")
    key = hashlib.sha256("\n".join(facts if told else [*facts, os.urandom(16).hex()]).encode()).hexdigest()
    return _links()[0] / key


def _links() -> tuple[Path, Lease]:
    """The folder of this process for links into the cache, and its lease on what they lead to."""
    with _lock:
        if os.getpid() not in _kept:
            folder, lease = Path(tempfile.mkdtemp(prefix="runyard-tables-")), Cache(home() / FOLDER).lease()
            _kept[os.getpid()] = folder, lease
            atexit.register(_let_go, os.getpid())
        return _kept[os.getpid()]


def _let_go(process: int) -> None:
    if process == os.getpid():
        folder, lease = _kept.pop(process)
        shutil.rmtree(folder, ignore_errors=True)
        lease.release()


def own_folder() -> Path:
    """A temporary folder of this process, which goes with it."""
    return _links()[0]
