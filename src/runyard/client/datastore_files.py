"""Files to and from datastores: several at once, by the shortest way, resumed where they broke, whole or not at all.

A folder that this machine sees is written to directly, once the server was seen to see the same; an object store by an
address that the server has signed; anything else through the server. Only the standard library is used.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import shutil
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Iterable, Iterator, Mapping, Sequence

from runyard.client.data.problem import TransferProblem
from runyard.client.data_files import append, bring, rest_of
from runyard.client.http import Client, ClientProblem, quote

AT_ONCE = 8
PIECE = 1 << 20
SENT_AT_ONCE = 32 << 20
"""Bytes of a file that go to the server in one request: what is repeated when a connection breaks."""
LARGEST_PUT = 1 << 30
"""A file that is larger goes through the server, which sends it in parts and can go on where it was broken off."""
SIGNED_AT_ONCE = 500
TRIES = 4

Advance = Callable[[int], None]
"""Told how many bytes were just moved."""


@dataclass(frozen=True)
class Upload:
    """A file of this machine, and its path in the datastore."""

    source: Path
    path: str


@dataclass
class Remote:
    """A datastore, as the server of a workspace knows it."""

    client: Client
    workspace: str
    name: str
    _folder: list[Path | None] = field(default_factory=list, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def address(self, what: str = "") -> str:
        base = f"/api/workspaces/{quote(self.workspace)}/datastores/{quote(self.name)}"
        return f"{base}/{what}" if what else base

    def files(self, below: str = "", addresses: bool = False) -> Iterator[dict[str, Any]]:
        """The files below a folder, sorted by path."""
        after = None
        while True:
            params = {"below": below, "after": after, "addresses": addresses}
            answer = self.client.get(self.address("files"), params)
            yield from answer["files"]
            after = answer["next"]
            if after is None:
                return

    def existing(self, paths: Iterable[str]) -> set[str]:
        """Those of the paths at which there is a file."""
        wanted = set(paths)
        folders = {path.rpartition("/")[0] for path in wanted}
        top = os.path.commonpath(folders) if folders and "" not in folders else ""
        return {each["path"] for each in self.files(top) if each["path"] in wanted}

    # -- writing ------------------------------------------------------------------------------------------------------

    def put(self, files: Sequence[Upload], advance: Advance, done: Callable[[Upload], None]) -> None:
        """Write files, whatever is there; `done` is called for each that is whole. The first failure is raised when the
        others have ended."""
        signed = self._signed(files)
        failures: list[TransferProblem] = []

        def one(each: Upload) -> None:
            try:
                self._put(each, signed.get(each.path), advance)
                done(each)
            except TransferProblem as problem:
                failures.append(problem)

        if files:
            one(files[0])  # which finds out whether the folder is here
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for _ in pool.map(one, files[1:]):
                pass
        if failures:
            raise failures[0]

    def _signed(self, files: Sequence[Upload]) -> dict[str, tuple[str, Mapping[str, str]]]:
        """Addresses to write to, where the datastore has some."""
        found: dict[str, tuple[str, Mapping[str, str]]] = {}
        for begin in range(0, len(files), SIGNED_AT_ONCE):
            paths = [each.path for each in files[begin : begin + SIGNED_AT_ONCE]]
            answer = self.client.post(self.address("addresses"), {"method": "PUT", "paths": paths}, idempotent=True)
            if not any(answer["addresses"]):
                return found
            for path, url in zip(paths, answer["addresses"]):
                if url is not None:
                    found[path] = (url, answer["headers"])
        return found

    def _put(self, each: Upload, signed: tuple[str, Mapping[str, str]] | None, advance: Advance) -> None:
        try:
            size = each.source.stat().st_size
            if signed is not None and size <= LARGEST_PUT:
                self._put_signed(each, size, *signed)
            else:
                folder = self._folder_here()
                if folder is None:
                    self._put_through_server(each, size, advance)
                    return
                _put_directly(each, folder / each.path)
            advance(size)
        except OSError as error:
            raise TransferProblem(f"{each.source} cannot be uploaded: {error.strerror or error}.") from error
        except ClientProblem as refusal:
            raise TransferProblem(f"{each.source} cannot be uploaded: {refusal.title}", refusal.help) from refusal

    def _put_signed(self, each: Upload, size: int, url: str, headers: Mapping[str, str]) -> None:
        said = ""
        for attempt in range(TRIES):
            if attempt:
                time.sleep(min(0.2 * 2**attempt, 2.0))
            try:
                with each.source.open("rb") as file:
                    sent = {**headers, "Content-Length": str(size), "Content-Type": "application/octet-stream"}
                    request = urllib.request.Request(url, data=file if size else b"", method="PUT", headers=sent)
                    with urllib.request.urlopen(request, timeout=60.0) as answer:
                        answer.read()
                return
            except urllib.error.HTTPError as error:
                said = f"{error.code} {error.reason}".strip()
                error.close()
                if error.code < 500 and error.code not in (408, 429):
                    break
            except (OSError, http.client.HTTPException) as error:
                if isinstance(error, OSError) and error.filename is not None:
                    raise
                said = str(getattr(error, "reason", None) or error) or type(error).__name__
        raise TransferProblem(f"{each.source} cannot be uploaded to the datastore {self.name!r}: {said}.")

    def _put_through_server(self, each: Upload, size: int, advance: Advance) -> None:
        """In pieces. What the server has of a file that is still the same is not sent again."""
        status = each.source.stat()
        upload = hashlib.sha256(f"{size}:{status.st_mtime_ns}:{each.source}".encode("utf-8", "replace")).hexdigest()
        named = {"path": each.path, "upload": upload[:32]}
        begin = int(self.client.get(self.address("upload"), named)["offset"]) if size > SENT_AT_ONCE else 0
        begin = begin if begin <= size else 0
        advance(begin)
        while True:
            length = min(SENT_AT_ONCE, size - begin)
            params: dict[str, str | int | bool] = {**named, "offset": begin, "size": size, "overwrite": True}
            body = _piece(each.source, begin, length)
            answer = self.client.request(
                "PUT", self.address("content"), params=params, body=body, length=length, timeout=300.0
            )
            advance(length)
            begin = int(answer["offset"])
            if answer["complete"]:
                return

    def _folder_here(self) -> Path | None:
        """The folder of the datastore, if this machine and the server both see it: tried once, with a file."""
        with self._lock:
            if not self._folder:
                self._folder.append(self._try_folder())
            return self._folder[0]

    def _try_folder(self) -> Path | None:
        folder = self.client.get(self.address())["settings"].get("path")
        if not folder or not os.path.isdir(folder) or not os.access(folder, os.W_OK):
            return None
        name = f"runyard-probe-{os.urandom(8).hex()}"
        probe = Path(folder) / name
        try:
            probe.touch(exist_ok=False)
            return Path(folder) if any(each["path"] == name for each in self.files(name)) else None
        except OSError:
            return None
        finally:
            with suppress(OSError):
                probe.unlink()

    # -- reading ------------------------------------------------------------------------------------------------------

    def get(
        self, files: Sequence[Mapping[str, Any]], target: Path, advance: Advance, done: Callable[[str], None]
    ) -> None:
        """Copy files to below a folder, at their paths in the datastore."""

        def serve(address: str, place: Path, halt: Callable[[], None]) -> None:
            base = f"/api/workspaces/{quote(self.workspace)}/{address}"
            with self.client.stream(base, headers=rest_of(place)) as answer:
                append(answer, place, halt)

        came = 0

        def told(now: int, total: int) -> None:
            nonlocal came
            advance(now - came)
            came = now

        listed = [{**each, "source": f"{self.name}/{each['path']}", "content": self.content(each)} for each in files]
        bring(listed, [target / str(each["path"]) for each in files], serve, link=False, told=told)
        for each in files:
            done(str(each["path"]))

    def content(self, file: Mapping[str, Any]) -> str:
        """Where the server itself gives a file, below the workspace."""
        from urllib.parse import quote as escape

        return (
            f"datastores/{quote(self.name)}/content?path={escape(str(file['path']), safe='', errors='surrogateescape')}"
        )


def _put_directly(each: Upload, place: Path) -> None:
    part = place.with_name(f".{os.urandom(8).hex()}.runyard-part")
    place.parent.mkdir(parents=True, exist_ok=True)
    try:
        shutil.copyfile(each.source, part)
        if part.stat().st_size != each.source.stat().st_size:
            raise TransferProblem(f"{each.source} changed while it was copied.", "Upload it again.")
        part.replace(place)
    finally:
        with suppress(FileNotFoundError):
            part.unlink()


def _piece(source: Path, begin: int, length: int) -> Callable[[], Iterable[bytes]]:
    def read() -> Iterator[bytes]:
        with source.open("rb") as file:
            file.seek(begin)
            left = length
            while left > 0:
                data = file.read(min(PIECE, left))
                if not data:
                    raise OSError(f"{source} became shorter while it was read")
                left -= len(data)
                yield data

    return read
