"""Bringing the files of a dataset into a folder: linked, copied or fetched. Nodes and the SDK do it the same way.

The server lists the files with the ways to each (docs/protocol.md): `local`, a path on the server's disk, which may be
a disk of this machine too; `url`, an address that anybody may read; `content`, the server itself.
"""

from __future__ import annotations

import http.client
import os
import shutil
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Callable, Mapping, Sequence

from runyard.contracts.data import datasets as contract

AT_ONCE = 8
TRIES = 5
TIMEOUT = 60.0
PIECE = 1 << 20
AGENT = "runyard"

LINKED, COPIED, FETCHED = "linked", "copied", "fetched"

Get = Callable[[str, Mapping[str, Any]], Any]
"""Asks the server for JSON: an address and its parameters."""
Fetch = Callable[[str, Path], None]
"""Writes what the server has at an address to a file."""


class TransferProblem(Exception):
    """A file could not be had: `message` says which and why, `help` what to do."""

    def __init__(self, message: str, help: str = "") -> None:
        super().__init__(f"{message} {help}".strip())
        self.message, self.help = message, help


@dataclass(frozen=True)
class Listing:
    """The files of a dataset, as the server lists them."""

    files: list[dict[str, Any]]
    single: bool
    several: bool

    @property
    def bytes(self) -> int:
        return sum(int(each["size"] or 0) for each in self.files)

    def mounted(self) -> list[str]:
        return contract.mounted([str(each["path"]) for each in self.files], self.several)

    def layout(self) -> list[str]:
        return [str(each["path"]) for each in self.files]


def listing(get: Get, address: str) -> Listing:
    """All files of a dataset; `address` is that of the dataset itself."""
    files: list[dict[str, Any]] = []
    answer: Any = {"next": None}
    after = None
    while True:
        answer = get(f"{address}/files", {"after": after})
        files += answer["files"]
        first_single = bool(answer["single"]) and after is None
        after = answer["next"]
        if after is None:
            return Listing(files, first_single, bool(answer["several"]))


def bring(
    files: Sequence[Mapping[str, Any]],
    places: Sequence[Path],
    fetch: Fetch,
    *,
    link: bool,
    check: Callable[[], None] = lambda: None,
) -> dict[str, int]:
    """Put each file at its place, several at once; returns how many were linked, copied and fetched.

    With `link`, what lies on a disk of this machine is linked, and what is fetched is made read-only; without, every
    file is a copy that may be written to. `check` is called before each file, and may raise to give up.
    """
    ways = {LINKED: 0, COPIED: 0, FETCHED: 0}

    def one(each: Mapping[str, Any], place: Path) -> str:
        check()
        os.makedirs(place.parent, exist_ok=True)
        return _bring(each, place, fetch, link, check)

    pool = ThreadPoolExecutor(max(1, min(AT_ONCE, len(files))))
    try:
        for way in pool.map(one, files, places):
            ways[way] += 1
    finally:
        pool.shutdown(wait=True)
    return ways


def is_here(each: Mapping[str, Any]) -> bool:
    """Whether the server's path of a file leads to the same file on this machine."""
    local = each.get("local")
    if not local:
        return False
    try:
        status = os.stat(local)
    except OSError:
        return False
    at = datetime.fromtimestamp(status.st_mtime, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return status.st_size == each["size"] and at == each["modified"] and os.access(local, os.R_OK)


def words(ways: Mapping[str, int]) -> str:
    """
    >>> words({"linked": 2, "copied": 0, "fetched": 1})
    '2 linked, 1 fetched'
    """
    return ", ".join(f"{count} {way}" for way, count in ways.items() if count) or "no files"


def _bring(each: Mapping[str, Any], place: Path, fetch: Fetch, link: bool, check: Callable[[], None]) -> str:
    if is_here(each):
        if link:
            os.symlink(str(each["local"]), place)
            return LINKED
        shutil.copyfile(str(each["local"]), place)
        return COPIED
    part = place.with_name(place.name + ".part")
    if each.get("url"):
        _from_web(str(each["url"]), part, each, check)
    elif each.get("content"):
        fetch(str(each["content"]), part)
    else:
        raise TransferProblem(f"{each['source']} is on no disk that this machine sees, and nobody gives it.")
    if each["size"] is not None and part.stat().st_size != each["size"]:
        got = part.stat().st_size
        part.unlink()
        raise TransferProblem(
            f"{each['source']} came with {got:,} bytes, and was listed with {each['size']:,}.",
            "It may have changed in between: submit the run again.",
        )
    if link:
        part.chmod(0o444)
    part.replace(place)
    return FETCHED


def _from_web(url: str, part: Path, each: Mapping[str, Any], check: Callable[[], None]) -> None:
    """Fetch an address; a connection that breaks is taken up where it broke."""
    said = ""
    for attempt in range(TRIES):
        if attempt:
            _pause(min(0.2 * 2**attempt, 5.0), check)
        try:
            _once(url, part, each, check)
            return
        except urllib.error.HTTPError as error:
            error.close()
            said = f"{error.code} {error.reason}".strip()
            if error.code == 416:
                part.unlink()
            elif 400 <= error.code < 500 and error.code not in (408, 425, 429):
                break
        except OSError as error:
            if _is_disk(error):
                raise
            said = str(getattr(error, "reason", None) or error) or type(error).__name__
        except http.client.HTTPException as error:
            said = str(error) or type(error).__name__
    prefix = str(each["source"]).rpartition("/")[0] + "/"
    mapped = f" (mapped to {url})" if url != each["source"] else ""
    raise TransferProblem(
        f"{each['source']}{mapped} does not give its file: {said}.",
        f"Correct the address, or say where its files are now: `runyard data map {prefix} /folder/with/the/files`.",
    )


def _once(url: str, part: Path, each: Mapping[str, Any], check: Callable[[], None]) -> None:
    begin = part.stat().st_size if part.exists() else 0
    headers = {"User-Agent": AGENT, "Accept-Encoding": "identity"}
    if begin:
        headers["Range"] = f"bytes={begin}-"
        if each.get("etag") and not str(each["etag"]).startswith("W/"):
            headers["If-Range"] = str(each["etag"])
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=TIMEOUT) as response:
        resumed = begin and response.status == 206
        expected = response.headers.get("Content-Length")
        got = 0
        with open(part, "ab" if resumed else "wb") as file:
            while True:
                check()
                piece = response.read(PIECE)
                if not piece:
                    break
                file.write(piece)
                got += len(piece)
        if expected is not None and got != int(expected):
            raise ConnectionError(f"the answer ended after {got:,} of {int(expected):,} bytes")


def _pause(seconds: float, check: Callable[[], None]) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        check()
        time.sleep(0.05)


def _is_disk(error: OSError) -> bool:
    """Whether an error is about writing here, and not about the connection."""
    return error.filename is not None or error.errno in (28, 122)  # ENOSPC, EDQUOT
