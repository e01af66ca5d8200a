"""What a run really saw of a dataset: its record with the run, and what changed between two runs.

A record is a property of the run, `runyard.data.<input>`: counts, a digest of the whole listing, and the first files of
it. A longer listing is, whole, a file of the run's history: `inputs/<input>.jsonl.gz`, a line for each file.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from itertools import islice
from json.encoder import encode_basestring
from typing import Any, Collection, Iterable, Mapping

PREFIX = "runyard.data."
OF_DATASET = "runyard.dataset."
"""A property that begins with this and ends with a dataset's id is of a run that reads it; the value names its inputs,
and is empty when the script has looked the dataset up by itself."""
REGISTERED = "runyard.registered."
"""A property that begins with this and ends with `<id>@<version>` is of a run whose script has registered a dataset."""

SHOWN = 100
"""Files that the property itself has."""


def facts(file: Mapping[str, Any]) -> dict[str, Any]:
    """What is recorded of a listed file: its address, also where it was really read, and what tells it from others."""
    url = file.get("url")
    if url is not None and file.get("content"):
        url = str(url).partition("?")[0]  # what follows is a signature
    return {
        "path": file["path"],
        "source": file["source"],
        "from": file.get("address") or url or file.get("local") or file["source"],
        "size": file["size"],
        "etag": file["etag"],
        "modified": file["modified"],
    }


def record(dataset: str, mode: str, files: Collection[Mapping[str, Any]], name: str) -> dict[str, Any]:
    """The value of the property of an input, before it becomes text."""
    found: dict[str, Any] = {
        "dataset": dataset,
        "mode": mode,
        "files": len(files),
        "bytes": sum(int(file["size"] or 0) for file in files),
        "digest": digest(files),
        "seen": [facts(file) for file in islice(files, SHOWN)],
    }
    if len(files) > SHOWN:
        found["listing"] = listing_file(name)
    return found


def digest(files: Iterable[Mapping[str, Any]]) -> str:
    """The same for the same files, in whatever order they were listed."""
    total = 0
    for file in files:
        line = json.dumps([file["path"], file["size"], mark_of(file)], ensure_ascii=False)
        total += int.from_bytes(hashlib.sha256(line.encode("utf-8", "surrogatepass")).digest(), "big")
    return f"{total % (1 << 256):064x}"


def mark_of(file: Mapping[str, Any]) -> Any:
    """What tells a file from a changed one of the same size; None when nothing does."""
    return file.get("etag") or file.get("modified")


def where(file: Mapping[str, Any]) -> str:
    """Where a listed file is read, without the signature that an address may have today."""
    return str(file.get("address") or file.get("local") or file.get("url") or file.get("source"))


class State:
    """A listing in one word: the same as long as the same files lie at the same places. Server and nodes work it out
    alike, so that an unchanged listing need not be sent."""

    def __init__(self) -> None:
        self.files = self.bytes = 0
        self._hash = hashlib.blake2b(digest_size=20)
        self._told = True

    def add(self, path: str, size: int | None, mark: str | None, where: str) -> None:
        """The next file, in the order of the listing."""
        self.files += 1
        self.bytes += size or 0
        if mark is None:
            self._told = False
        line = f"{encode_basestring(path)} {size} {mark} {encode_basestring(where)}\n"
        self._hash.update(line.encode("utf-8", "surrogatepass"))

    @property
    def value(self) -> str | None:
        """None when there is a file that nothing tells from a changed one."""
        return self._hash.hexdigest() if self._told else None


def lines(files: Iterable[Mapping[str, Any]]) -> Iterable[str]:
    """The lines of a listing's file."""
    return (json.dumps(facts(file), ensure_ascii=False) + "\n" for file in files)


def listing_file(name: str) -> str:
    """The name of the file with a long listing, in the run's history."""
    return f"inputs/{name}.jsonl.gz"


def property_of(name: str, attempt: int = 1) -> str:
    """The property of an input. A property is set once, so that each attempt of a run has its own.

    >>> property_of("d"), property_of("d", 2)
    ('runyard.data.d', 'runyard.data.d@2')
    """
    return PREFIX + name + (f"@{attempt}" if attempt > 1 else "")


def of_run(properties: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """What a run saw, by the names of its inputs; of its last attempt."""
    found: dict[str, tuple[int, dict[str, Any]]] = {}
    for key, value in properties.items():
        if not key.startswith(PREFIX):
            continue
        name, _, attempt = key[len(PREFIX) :].partition("@")
        number = int(attempt) if attempt.isdigit() else 1
        try:
            parsed = json.loads(value or "")
        except ValueError:
            continue
        if isinstance(parsed, dict) and number >= found.get(name, (0, {}))[0]:
            found[name] = (number, parsed)
    return {name: each for name, (_, each) in found.items()}


@dataclass(frozen=True)
class Difference:
    """How what one run saw differs from what another saw before: paths of files."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)


def compare(before: Iterable[Mapping[str, Any]], after: Iterable[Mapping[str, Any]]) -> Difference:
    """
    >>> old = [{"path": "/a", "size": 1, "etag": "x"}, {"path": "/b", "size": 1, "etag": "x"}]
    >>> compare(old, [{"path": "/a", "size": 1, "etag": "y"}, {"path": "/c", "size": 1, "etag": "x"}])
    Difference(added=('/c',), removed=('/b',), changed=('/a',))
    """
    was = {str(file["path"]): (file["size"], mark_of(file)) for file in before}
    now = {str(file["path"]): (file["size"], mark_of(file)) for file in after}
    return Difference(
        tuple(path for path in now if path not in was),
        tuple(path for path in was if path not in now),
        tuple(path for path, mark in now.items() if path in was and was[path] != mark),
    )
