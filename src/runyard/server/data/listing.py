"""The files of a dataset: where each lies in a run, and how it is to be had. Nothing is copied here."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from urllib.parse import quote

from runyard.contracts.data import address_map
from runyard.contracts.data import datasets as contract
from runyard.contracts.data.datasets import Definition, Source
from runyard.server.data import web
from runyard.server.middleware.problems import Problem

AT_ONCE = 16
"""Addresses that are looked at side by side."""


@dataclass(frozen=True)
class Listed:
    """A file. It is on the server's disk (`local`), at an address that anybody may read (`url`), or both are None."""

    path: str
    source: str  # as the definition has it
    size: int | None = None
    etag: str | None = None
    modified: str | None = None
    local: str | None = None
    url: str | None = None
    datastore: str | None = None
    stored: str = ""  # its path in the datastore
    whole: bool = False  # it is what its source names, and not one of several


FolderOf = Callable[[str], Path]
"""The folder of a datastore by its name; refused when it has none."""


def files(definition: Definition, maps: Mapping[str, str], folder_of: FolderOf) -> Iterator[Listed]:
    """The files of a dataset in their order, each layout path once. A Problem says which source cannot be had."""
    return contract.chosen(definition, _once(_all(definition, maps, folder_of)), lambda each: each.path)


def find(definition: Definition, maps: Mapping[str, str], folder_of: FolderOf, path: str) -> Listed | None:
    """The file with a layout path, if it is on the server's disk. No address is looked at."""
    if definition.sources[0].url is not None:
        for source in definition.sources:
            place = address_map.look_up(maps, str(source.url))
            if place.local is not None and contract.layout(definition, source) == path:
                return _on_disk(contract.layout(definition, source), source, Path(place.local))
        return None
    return next((each for each in files(definition, maps, folder_of) if each.path == path), None)


def is_single(definition: Definition, found: list[Listed]) -> bool:
    """Whether a run gets the path of the one file, and not of a folder."""
    return definition.may_be_single and len(found) == 1 and found[0].whole


def _all(definition: Definition, maps: Mapping[str, str], folder_of: FolderOf) -> Iterator[Listed]:
    if definition.sources[0].url is not None:
        with ThreadPoolExecutor(min(AT_ONCE, len(definition.sources))) as pool:
            yield from pool.map(lambda source: _on_web(definition, source, maps), definition.sources)
        return
    for source in definition.sources:
        yield from _in_folder(definition, source, folder_of(str(source.datastore)))


def _once(found: Iterator[Listed]) -> Iterator[Listed]:
    seen: set[str] = set()
    for each in found:
        if each.path not in seen and contract.is_safe(each.path):
            seen.add(each.path)
            yield each


def _on_web(definition: Definition, source: Source, maps: Mapping[str, str]) -> Listed:
    url = str(source.url)
    place = address_map.look_up(maps, url)
    path = contract.layout(definition, source)
    if place.local is not None:
        return _on_disk(path, source, Path(place.local))
    try:
        seen = web.look(str(place.url))
    except web.Unreachable as error:
        raise _unreachable(url, str(place.url), str(error)) from None
    return Listed(path, url, seen.size, seen.etag, seen.modified, None, place.url, whole=True)


def _on_disk(path: str, source: Source, place: Path) -> Listed:
    try:
        status = place.stat()
        if not place.is_file():
            raise IsADirectoryError(f"{place} is no file")
    except OSError as error:
        raise _unreachable(str(source.url), str(place), error.strerror or str(error)) from None
    return Listed(path, str(source), *_facts(status), str(place), None, whole=True)


def _in_folder(definition: Definition, source: Source, folder: Path) -> Iterator[Listed]:
    wanted = contract.normal(source.path)
    fits = contract.matcher(wanted)
    begin = contract.fixed_part(wanted) if contract.is_pattern(wanted) else wanted
    start = folder / begin if begin else folder
    found = False
    for place in _walk(start):
        path = place.relative_to(folder).as_posix()
        if not fits(path):
            continue
        found = True
        layout = contract.layout(definition, source, path)
        facts = _facts(place.stat())
        whole = path == wanted
        yield Listed(layout, str(source), *facts, str(place), None, source.datastore, path, whole)
    if not found:
        raise Problem(
            "source_empty",
            f"No file is meant by {source.path!r} in the datastore {source.datastore!r}.",
            "Look at its files, and mind that '*' does not cross a '/' while '**' does.",
            {"datastore": source.datastore, "path": source.path},
        )


def _walk(start: Path) -> Iterator[Path]:
    """The files below a folder, or the one file, sorted by path. Links to folders are not followed."""
    if start.is_file():
        yield start
        return
    try:
        inside = sorted(
            os.scandir(start), key=lambda each: each.name + ("/" if each.is_dir(follow_symlinks=False) else "")
        )
    except (FileNotFoundError, NotADirectoryError):
        return
    for each in inside:
        if each.is_dir(follow_symlinks=False):
            yield from _walk(Path(each.path))
        elif each.is_file():
            yield Path(each.path)


def _facts(status: os.stat_result) -> tuple[int, str, str]:
    at = datetime.fromtimestamp(status.st_mtime, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return status.st_size, f'"{status.st_size:x}-{status.st_mtime_ns:x}"', at


def content_address(id: str, path: str) -> str:
    """Where the server itself gives a file, below the workspace."""
    return f"datasets/{quote(id, safe='')}/content?path={quote(path, safe='')}"


def _unreachable(url: str, looked_at: str, answer: str) -> Problem:
    through = f" (mapped to {looked_at})" if looked_at != url else ""
    prefix = url.rpartition("/")[0] + "/"
    return Problem(
        "source_unreachable",
        f"{url}{through} does not give its file: {answer}.",
        f"Correct the address, or say where its files are now: `runyard data map {prefix} /folder/with/the/files` "
        "(or another address).",
        {"url": url, "place": looked_at, "answer": answer},
    )
