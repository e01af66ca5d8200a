"""Laying out the working folder of a run from its snapshot. It writes inside that folder and nowhere else."""

from __future__ import annotations

import errno
import hashlib
import os
from pathlib import Path
from typing import Callable, Iterator

from runyard.contracts.manifest import FILE, FOLDER, LINK, Entry, Manifest
from runyard.node.problem import RunProblem
from runyard.system import folders

CHUNK = 1 << 20
SENT_ANEW = "Submit the run again: what the store lacks, or has damaged, is sent anew."
_MAY_NOT_COPY_RANGES = (errno.ENOSYS, errno.EXDEV, errno.EINVAL, errno.EOPNOTSUPP, errno.EPERM, errno.EBADF)


def object_path(objects: Path, digest: str) -> Path:
    """The path of the content with this hash in the folder of an object store."""
    return objects / digest[:2] / digest[2:]


class BadObject(Exception):
    """An object whose bytes do not match its hash; the text describes it."""


def copy_object(objects: Path, digest: str, target: Path, mode: int = 0o666) -> None:
    """Copy an object to a new file, and check it. FileNotFoundError when it is not there.

    It is copied, never linked: the script may write to its files, and the object must stay as it is.
    """
    reader = os.open(object_path(objects, digest), os.O_RDONLY | os.O_CLOEXEC)
    try:
        writer = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        try:
            seen, size = _copy_bytes(reader, writer)
        finally:
            os.close(writer)
    finally:
        os.close(reader)
    if seen != digest:
        raise BadObject(f"object {digest} has {size} bytes in the object store that are not those it was stored with")


def lay_out(manifest: Manifest, objects: Path, work: Path, check: Callable[[], None]) -> int:
    """Write every path of the manifest below `work`; returns how many. `check` is called before each file."""
    _refuse_detours(manifest)
    made = {work}
    try:
        for entry in manifest.entries:
            path = work / entry.path
            folder = path if entry.kind == FOLDER else path.parent
            if folder not in made:
                folders.make(str(folder))
                made.add(folder)
            if entry.kind == FILE:
                check()
                _copy(entry, objects, path)
        # Links come last, so that nothing can be written through one.
        for entry in manifest.entries:
            if entry.kind == LINK:
                os.symlink(entry.target, work / entry.path)
    except UnicodeEncodeError as error:
        raise RunProblem(
            "SnapshotIncomplete",
            f"A name in the snapshot cannot be written on this machine: {error.object!r}.",
            "Start the server in a UTF-8 locale, for example with LC_ALL=C.UTF-8.",
        ) from error
    except OSError as error:
        raise out_of_disk(error, work) from error
    return len(manifest.entries)


def out_of_disk(error: OSError, folder: Path) -> RunProblem:
    """The problem that an error while writing below `folder` amounts to."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return RunProblem(
            "DiskFull",
            f"There is no space left on the disk of {folder}.",
            "Free some, for example with `runyard rm`, and submit the run again.",
        )
    return RunProblem("SnapshotIncomplete", f"The working folder could not be laid out: {error}.")


def _refuse_detours(manifest: Manifest) -> None:
    """Refuse a path below a file or a link of the same manifest: it would lead elsewhere."""
    leaves = {entry.path for entry in manifest.entries if entry.kind != FOLDER}
    seen = set()
    good = {""}  # folders below which nothing leads elsewhere
    for entry in manifest.entries:
        above = []
        folder = entry.path.rpartition("/")[0]
        while folder not in good:
            above.append(folder)
            folder = folder.rpartition("/")[0]
        if entry.path in seen or not leaves.isdisjoint(above):
            raise RunProblem(
                "SnapshotIncomplete",
                f"The snapshot's manifest is wrong: {entry.path!r} is there twice, or lies below a file or a link.",
                "Submit the run again, so that a new snapshot is taken.",
            )
        seen.add(entry.path)
        good.update(above)


def _copy(entry: Entry, objects: Path, target: Path) -> None:
    try:
        copy_object(objects, entry.digest, target, 0o777 if entry.executable else 0o666)
    except FileNotFoundError:
        raise RunProblem(
            "SnapshotIncomplete",
            f"The content of {entry.path!r} (object {entry.digest}) is no longer in the object store.",
            SENT_ANEW,
        ) from None
    except BadObject as error:
        raise RunProblem(
            "SnapshotIncomplete", f"The content of {entry.path!r} is damaged: {error}.", SENT_ANEW
        ) from None


def _copy_bytes(reader: int, writer: int) -> tuple[str, int]:
    """Copy to the end; the hash and the size of what was read.

    What is larger than a chunk is left to the kernel, which may share the bytes instead of copying them, and is hashed
    afterwards, from the memory in which the kernel has it by then.
    """
    seen, size = hashlib.sha256(), 0
    if os.fstat(reader).st_size <= CHUNK:
        for chunk in _chunks(reader):
            seen.update(chunk)
            size += len(chunk)
            _write(writer, chunk)
        return seen.hexdigest(), size
    _copy_in_kernel(reader, writer)
    for chunk in _chunks(reader):  # some file systems report an end when they cannot: a plain copy does the rest
        _write(writer, chunk)
    os.lseek(reader, 0, os.SEEK_SET)
    for chunk in _chunks(reader):
        seen.update(chunk)
        size += len(chunk)
    return seen.hexdigest(), size


def _chunks(reader: int) -> Iterator[bytes]:
    return iter(lambda: os.read(reader, CHUNK), b"")


def _copy_in_kernel(reader: int, writer: int) -> None:
    in_kernel = getattr(os, "copy_file_range", None)
    try:
        while in_kernel is not None and in_kernel(reader, writer, 1 << 30):
            continue
    except OSError as error:
        if error.errno not in _MAY_NOT_COPY_RANGES:
            raise


def _write(writer: int, chunk: bytes) -> None:
    rest = memoryview(chunk)
    while rest:
        rest = rest[os.write(writer, rest) :]
