"""Moving files between this machine and the history of a run, over HTTP: whole, checked, and no more than needed."""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Callable, Iterator, Sequence, Tuple, cast

from runyard.client.http import ClientProblem, Unreachable, quote
from runyard.contracts import names, pack
from runyard.sdk.exceptions import AzureMLException, UserErrorException
from runyard.sdk.progress import progress
from runyard.sdk.workspace.service import Service, sdk_exception
from runyard.system.folders import walk

if TYPE_CHECKING:
    from runyard.contracts.documents import FileDocument

Source = Tuple[str, Path]
"""A name in the run's history, and the file to store under it."""

LINKS_A_REQUEST = 1000
THREADS = 8


def listed(service: Service, run_id: str, prefix: str = "") -> list[FileDocument]:
    answer = service.get(f"/api/runs/{quote(run_id)}/files", {"prefix": prefix or None})
    return cast("list[FileDocument]", answer["files"])


def files_below(folder: Path) -> Iterator[str]:
    """The files in a folder and below, as paths relative to it, with '/'."""
    for place, folders, files in walk(str(folder)):
        folders.sort()
        for name in sorted(files):
            path = Path(place, name)
            if path.is_file():
                yield path.relative_to(folder).as_posix()


def sendable(name: str) -> str:
    """A file's name as the history can hold it: bytes that are no UTF-8 are written as %XX."""
    return "".join(f"%{ord(c) - 0xDC00:02X}" if "\udc80" <= c <= "\udcff" else c for c in name)


def upload(service: Service, run_id: str, wanted: Sequence[Source]) -> None:
    """Store files in a run's history. Content that the server already has is only linked to its name."""
    for start in range(0, len(wanted), LINKS_A_REQUEST):
        part = wanted[start : start + LINKS_A_REQUEST]
        digests: dict[str, tuple[str, int]] = {}
        for name, place in part:
            with _readable(place), place.open("rb") as stream:
                digests[name] = pack.digest_of(stream)
        links = {name: digest for name, (digest, _) in digests.items()}
        missing = set(service.post(f"/api/runs/{quote(run_id)}/links", {"files": links}, idempotent=True)["missing"])
        total = sum(digests[name][1] for name in missing)
        with progress(f"Uploading {len(missing)} files", total) as moved:
            for name, place in part:
                if name in missing:
                    _put(service, run_id, name, place, *digests[name])
                    moved(digests[name][1])


def upload_bytes(service: Service, run_id: str, name: str, content: bytes) -> None:
    service.put(f"/api/runs/{quote(run_id)}/files/{quote(name)}", body=content)


def _put(service: Service, run_id: str, name: str, place: Path, digest: str, size: int) -> None:
    def pieces() -> Iterator[bytes]:
        with _readable(place), place.open("rb") as stream:
            left = size
            while left:
                chunk = stream.read(min(pack.CHUNK, left))
                if not chunk:
                    raise UserErrorException(f"{place} became shorter while it was uploaded as {name!r}.")
                left -= len(chunk)
                yield chunk

    service.put(
        f"/api/runs/{quote(run_id)}/files/{quote(name)}",
        body=pieces,
        length=size,
        headers={"X-Runyard-Hash": digest},
        timeout=300.0,
    )


def placed(name: str, prefix: str, append_prefix: bool) -> str:
    """Where below the output folder a file goes.

    >>> placed("outputs/model/a.pt", "outputs/model", True), placed("outputs/model/a.pt", "outputs/model", False)
    ('outputs/model/a.pt', 'a.pt')
    """
    if append_prefix or not prefix:
        return names.check_file(name)
    rest = name[len(prefix) :]
    if rest.startswith("/") or prefix.endswith("/"):
        return names.check_file(rest.lstrip("/"))
    # The prefix ends within a name ("outputs/mod"), or is the whole name of one file: names are not cut in two.
    return names.check_file(name[prefix.rfind("/") + 1 :])


def download(
    service: Service,
    run_id: str,
    name: str,
    target: Path,
    deadline: float | None = None,
    moved: Callable[[int], None] = lambda count: None,
) -> int:
    """Fetch one file of a run's history; returns its size."""
    address = f"/api/runs/{quote(run_id)}/files/{quote(name)}"
    return download_from(service, address, f"{name!r} of run {run_id}", target, deadline, moved)


def download_from(
    service: Service,
    address: str,
    what: str,
    target: Path,
    deadline: float | None = None,
    moved: Callable[[int], None] = lambda count: None,
) -> int:
    """Fetch what is at an address of the server; returns its size. It appears under its name when it is complete and
    has the hash that the server sent; after a broken connection the transfer resumes."""
    target.parent.mkdir(parents=True, exist_ok=True)
    aside = target.with_name(f".{target.name[:200]}.{os.getpid()}.part")
    try:
        with aside.open("wb") as file:
            coming = _Coming(file, moved)
            while not _fetched(service, address, coming, deadline):
                continue
        check_hash(what, coming.expected, coming.seen.hexdigest())
        os.replace(aside, target)
    finally:
        if aside.exists():
            aside.unlink()
    return coming.size


def check_hash(what: str, expected: str | None, seen: str) -> None:
    """Refuse a file whose bytes are not those that the server has stored. A growing file has no hash yet."""
    if expected is None or expected == seen:
        return
    raise sdk_exception(
        ClientProblem(
            "object_damaged",
            f"{what} is damaged: its bytes have the hash {seen}, and {expected} is what was stored.",
            "Where the server runs, `runyard doctor --deep` names every file like that. A backup has it whole.",
        )
    )


class _Coming:
    """A download in progress: the bytes received so far, and the hash that the file must have."""

    def __init__(self, file: BinaryIO, moved: Callable[[int], None]) -> None:
        self._file, self._moved = file, moved
        self.size, self.seen, self.expected = 0, hashlib.sha256(), cast("str | None", None)

    def begin(self, expected: str | None) -> bool:
        """Note the hash in a response; whether the bytes received so far belong to the same file."""
        if self.size and expected != self.expected:
            self._file.seek(0)
            self._file.truncate()
            self.size, self.seen = 0, hashlib.sha256()
            return False
        self.expected = expected
        return True

    def write(self, chunk: bytes) -> None:
        self._file.write(chunk)
        self.seen.update(chunk)
        self.size += len(chunk)
        self._moved(len(chunk))


def _fetched(service: Service, address: str, coming: _Coming, deadline: float | None) -> bool:
    """Continue at the end of the partial file; whether that was all."""
    begun = coming.size
    headers = {"Range": f"bytes={begun}-"} if begun else {}
    try:
        with service.client.stream(address, headers=headers) as answer:
            if not coming.begin(answer.file_hash):
                return False  # another file has this name now: start again
            for chunk in answer:
                _in_time(address, deadline)
                coming.write(chunk)
            return True
    except ClientProblem as problem:
        if isinstance(problem, Unreachable) and coming.size > begun:
            return False
        raise sdk_exception(problem) from None


def download_all(
    service: Service, run_id: str, wanted: Sequence[tuple[str, Path]], timeout_seconds: float | None
) -> None:
    """Fetch several files, a few at a time."""
    deadline = None if timeout_seconds is None else time.monotonic() + timeout_seconds
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(THREADS) as pool:
        for done in [pool.submit(download, service, run_id, name, target, deadline) for name, target in wanted]:
            done.result()


def _in_time(what: str, deadline: float | None) -> None:
    if deadline is not None and time.monotonic() > deadline:
        raise AzureMLException(f"The files did not arrive in the time given (timeout_seconds); {what} was on its way.")


class _readable:
    """Turns an error of the disk into a message about the file."""

    def __init__(self, place: Path) -> None:
        self._place = place

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if isinstance(error, OSError) and not isinstance(error, ConnectionError):
            raise UserErrorException(
                f"{self._place} cannot be read ({error.strerror}).", inner_exception=error
            ) from error
