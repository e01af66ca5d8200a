"""The files of a run's history: names for objects, and for files that still grow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from runyard.contracts import names, pack
from runyard.store import after_commit, lookups
from runyard.store.content.objects import Stored
from runyard.store.errors import Gone, NotFound, Refused
from runyard.store.prepared import Prepared
from runyard.store.runs import runs
from runyard.store.store import Store
from runyard.store.tables import dropped, files, fingerprint

LOGS = "logs"
"""What retention drops of a run, as the rows of `dropped` call it."""

# Building a statement costs more than running it: those that every file needs are built once.
_BY_NAME = Prepared(select(files).where(files.c.run == bindparam("of"), files.c.name_hash == bindparam("called")))
_OF_RUN = Prepared(select(files).where(files.c.run == bindparam("of")))
_BELOW = Prepared(
    select(files).where(
        files.c.run == bindparam("of"), func.substr(files.c.name, 1, bindparam("length")) == bindparam("prefix")
    )
)
_KEYS_BY_NAME = """
    SELECT serial, run, name_hash, digest IS NULL FROM files WHERE (run, name_hash) IN ({keys})
"""
_INSERT = insert(files)
_BEGUN = ("run", "name_hash", "name", "size", "updated_at")
_BEGIN = Prepared(insert(files).returning(files.c.serial), _BEGUN)
_BEGIN_ALL = Prepared(_INSERT, _BEGUN)
_KEEP = Prepared(_INSERT, (*_BEGUN, "digest"))
_GROWING = Prepared(select(files).where(files.c.run == bindparam("of"), files.c.digest.is_(None)))
_DROPPED = Prepared(select(dropped.c.names).where(dropped.c.run == bindparam("of"), dropped.c.kind == LOGS))
_SEAL = Prepared(
    update(files)
    .where(files.c.serial == bindparam("key"), files.c.digest.is_(None))
    .values(size=bindparam("bytes"), digest=bindparam("hash"), updated_at=bindparam("when"))
)


@dataclass(frozen=True)
class FileEntry:
    """`digest` names the object of a file that is whole; `growing` is the key of one that still grows."""

    name: str
    size: int
    digest: str | None
    growing: int | None
    updated_at: datetime


def find(connection: Connection, run_id: str, prefix: str = "") -> list[FileEntry]:
    """The files whose names begin with `prefix`, by name."""
    wanted = {"of": runs.serial_of(connection, run_id), "prefix": prefix, "length": len(prefix)}
    rows = (_BELOW if prefix else _OF_RUN).all(connection, wanted)
    return sorted((_entry(connection, row) for row in rows), key=lambda entry: entry.name)


def get(connection: Connection, run_id: str, name: str) -> FileEntry:
    row = _row(connection, runs.serial_of(connection, run_id), _checked(name))
    if row is None:
        if name in dropped_logs(connection, run_id):
            raise _dropped(run_id, name)
        raise NotFound(
            "file_not_found",
            f"The run {run_id!r} has no file {name!r}.",
            f"`runyard files {run_id}` lists its files.",
            {"run": run_id, "name": name},
        )
    return _entry(connection, row)


def dropped_logs(connection: Connection, run_id: str) -> list[str]:
    """The names of the logs that the run had, until it was older than its workspace keeps logs."""
    run = runs.serial_of(connection, run_id)
    names = _DROPPED.scalar(connection, {"of": run})
    return sorted(names) if isinstance(names, list) else []


def put(connection: Connection, run_id: str, name: str, stored: Stored) -> FileEntry:
    """Give an object a name in the run's history. What had the name before goes, if nothing else uses it."""
    name, run = _checked(name), runs.serial_of(connection, run_id)
    before = _row(connection, run, name)
    now = datetime.now(timezone.utc)
    values = {"size": stored.size, "digest": stored.digest, "updated_at": now}
    if before is None:
        connection.execute(_INSERT, {"run": run, "name_hash": fingerprint(name), "name": name, **values})
    else:
        connection.execute(update(files).where(files.c.serial == before.serial).values(**values))
    effects = after_commit.effects(connection)
    effects.named[stored.digest] = stored.size
    _leave(effects, before)
    return FileEntry(name, stored.size, stored.digest, None, now)


def keep(connection: Connection, run_id: str, logs: Mapping[str, Stored]) -> None:
    """Name logs that have come as a whole. Begun when the run has files: some may be these, or grow."""
    run, now = runs.serial_of(connection, run_id), datetime.now(timezone.utc)
    if _OF_RUN.first(connection, {"of": run}) is not None:
        raise Begun(run_id)
    effects = after_commit.effects(connection)
    for name, stored in logs.items():
        values = {"size": stored.size, "digest": stored.digest, "updated_at": now}
        _KEEP.run(connection, {"run": run, "name_hash": _fingerprint(name), "name": name, **values})
        effects.named[stored.digest] = stored.size


class Begun(Exception):
    """A run was taken for one that has no files yet."""


def growing(connection: Connection, run_id: str, name: str) -> FileEntry:
    """The growing file of that name. It is made if there is none; one that was whole grows on from what it holds."""
    name, run = _checked(name), runs.serial_of(connection, run_id)
    folders = after_commit.folders(connection)
    before = _row(connection, run, name)
    if before is not None and before.digest is None:
        folders.growing.revive(before.serial)
        return _entry(connection, before)
    effects = after_commit.effects(connection)
    if before is not None:
        # A new row has a new serial, hence a new growing file: late bytes for the former one cannot reach it.
        connection.execute(delete(files).where(files.c.serial == before.serial))
    now = datetime.now(timezone.utc)
    begun = {"run": run, "name_hash": fingerprint(name), "name": name, "size": 0, "updated_at": now}
    key: int = _BEGIN.scalar(connection, begun)
    folders.growing.restart(key)
    if before is not None:
        with folders.objects.open(before.digest) as file:
            size = 0
            while chunk := file.read(pack.CHUNK):
                size = folders.growing.append(key, size, chunk)
        _leave(effects, before)
    return FileEntry(name, folders.growing.size(key), None, key, now)


def known_sizes(connection: Connection, digests: Sequence[str]) -> dict[str, int]:
    """The sizes of objects by the rows of files; objects that no file names are left out."""
    query = select(files.c.digest, func.max(files.c.size)).where(files.c.digest.in_(digests))
    return {row[0]: row[1] for row in connection.execute(query.group_by(files.c.digest))}


def growing_keys(connection: Connection, wanted: Iterable[tuple[int, str]]) -> dict[tuple[int, str], int | None]:
    """The keys of growing files, given as the serial of the run and the name; None where the file is whole. Those that
    are not there are left out."""
    names_of = {(run, _fingerprint(name)): (run, name) for run, name in wanted}
    return {
        names_of[run, bytes(name_hash)]: key if grows else None
        for key, run, name_hash, grows in lookups.rows(connection, _KEYS_BY_NAME, list(names_of))
    }


def begin_growing(connection: Connection, wanted: Iterable[tuple[int, str]]) -> dict[tuple[int, str], int]:
    """Make growing files of names that are not there yet; returns their keys."""
    now, unmade = datetime.now(timezone.utc), list(dict.fromkeys(wanted))
    if not unmade:
        return {}
    new = [
        {"run": run, "name_hash": _fingerprint(name), "name": _checked(name), "size": 0, "updated_at": now}
        for run, name in unmade
    ]
    _BEGIN_ALL.run_all(connection, new)
    made = growing_keys(connection, unmade)
    for key in made.values():
        assert key is not None
        after_commit.folders(connection).growing.restart(key)
    return {name: key for name, key in made.items() if key is not None}


_fingerprint = lru_cache(1024)(fingerprint)  # of names: most runs have the same


def append(store: Store, run_id: str, name: str, offset: int, data: bytes, restart: bool = False) -> int:
    """Add bytes that begin at `offset` to a growing file, which is made if need be; returns its new size.

    `restart` empties it first. Bytes that are there already are skipped, a gap is refused.
    """
    with store.database.look() as connection:
        key = _growing_key(connection, run_id, name)
    return append_to(store, key, run_id, name, offset, data, restart)


def append_to(
    store: Store, key: int | None, run_id: str, name: str, offset: int, data: bytes, restart: bool = False
) -> int:
    """The same for a file whose key is known; None when it is still to be made."""
    while True:
        if key is None:
            with store.database.write() as connection:
                key = growing(connection, run_id, name).growing
            assert key is not None
        if restart:
            store.growing.restart(key)
        try:
            return store.growing.append(key, offset, data)
        except NotFound:
            key = None  # it was sealed a moment ago


def rename(connection: Connection, run_id: str, new_names: Mapping[str, str]) -> None:
    """Give files other names. One that grows goes on under its new name: whoever appends to the old one begins anew.

    A new name may be one that another file leaves: the longer names go first.
    """
    run = runs.serial_of(connection, run_id)
    for name in sorted(new_names, key=len, reverse=True):
        new = _checked(new_names[name])
        where = (files.c.run == run, files.c.name_hash == fingerprint(name))
        connection.execute(update(files).where(*where).values(name=new, name_hash=fingerprint(new)))


def remove(connection: Connection, run_id: str, unwanted: Iterable[str]) -> None:
    """Take files out of a run's history. What nothing else uses of their content goes with them."""
    run = runs.serial_of(connection, run_id)
    effects = after_commit.effects(connection)
    for name in unwanted:
        before = _row(connection, run, name)
        if before is not None:
            connection.execute(delete(files).where(files.c.serial == before.serial))
            _leave(effects, before)


def seal(store: Store, run_id: str, then: Callable[[Connection], None] | None = None) -> None:
    """Make an object of every growing file of a run. The hashing holds no lock; no bytes are lost meanwhile. `then` is
    called in the transaction in which the last of them is whole."""
    with store.database.look() as connection:
        rows = _GROWING.all(connection, {"of": runs.serial_of(connection, run_id)})
        left = [(row.serial, _entry(connection, row)) for row in rows]
    # Several files may share a lock; everybody takes them in the same order.
    locks = {id(lock): lock for lock in (store.growing.sealing(key) for key, _ in left)}
    with ExitStack() as sealing:
        for _, lock in sorted(locks.items()):
            sealing.enter_context(lock)
        while left:
            left = _seal(store, run_id, left, then)
            if not left:
                return
    if then is not None:
        with store.database.write() as connection:
            then(connection)


def _seal(
    store: Store,
    run_id: str,
    left: Sequence[tuple[int, FileEntry]],
    then: Callable[[Connection], None] | None,
) -> list[tuple[int, FileEntry]]:
    """Those of the files that are not whole yet, because they have begun to grow again while they were hashed. If there
    is none, `then` is called in the same transaction."""
    adopted = {key: _adopted(store, key) for key, _ in left}
    again = []
    with store.database.write() as connection:
        effects = after_commit.effects(connection)
        for key, entry in left:
            stored = adopted[key]
            if stored is None:
                current = _row(connection, runs.serial_of(connection, run_id), entry.name)
                if current is not None and current.serial == key and current.digest is None:
                    store.growing.revive(key)
                    again.append((key, entry))
                continue  # else someone else has sealed or replaced it
            if not store.growing.is_taken(key):
                store.objects.let_go([stored.digest])
                effects.released.add(stored.digest)
                again.append((key, entry))
                continue
            sealed = {"key": key, "bytes": stored.size, "hash": stored.digest, "when": entry.updated_at}
            _SEAL.run(connection, sealed)
            effects.named[stored.digest] = stored.size
            effects.closed.add(key)
        if not again and then is not None:
            then(connection)
    return again


def _adopted(store: Store, key: int) -> Stored | None:
    try:
        return store.objects.adopt(store.growing.take(key))
    except NotFound:
        return None


def _dropped(run_id: str, name: str) -> Gone:
    return Gone(
        "log_dropped",
        f"The log {name!r} of run {run_id!r} was dropped: it is older than its workspace keeps logs.",
        "`runyard retention` shows for how long that is. Runs with the tag 'keep' are left as they are.",
        {"run": run_id, "name": name},
    )


def _checked(name: str) -> str:
    try:
        return names.check_file(name)
    except names.BadName as error:
        raise Refused("bad_name", str(error)) from error


def _row(connection: Connection, run: int, name: str) -> Any:
    return _BY_NAME.first(connection, {"of": run, "called": fingerprint(name)})


def _growing_key(connection: Connection, run_id: str, name: str) -> int | None:
    row = _row(connection, runs.serial_of(connection, run_id), _checked(name))
    return row.serial if row is not None and row.digest is None else None


def _entry(connection: Connection, row: Any) -> FileEntry:
    if row.digest is not None:
        return FileEntry(row.name, row.size, row.digest, None, row.updated_at)
    extent = after_commit.folders(connection).growing.extent(row.serial)
    if extent is None:
        return FileEntry(row.name, 0, None, row.serial, row.updated_at)
    return FileEntry(row.name, extent.size, None, row.serial, extent.updated_at)


def _leave(effects: after_commit.Effects, before: Any) -> None:
    if before is None:
        return
    if before.digest is None:
        effects.closed.add(before.serial)
    else:
        effects.released.add(before.digest)
