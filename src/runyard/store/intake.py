"""Deliveries on their way into the store, many at once: one look for all of them, and one transaction.

A parcel is what one reporter sends. Its log bytes go to growing files, its journal lines to the database, and each of
its parts is answered by itself. Everything that is decided here is read from the database in the same group: nothing
has to be invalidated when a run is deleted or started again, and a second server would do no harm.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection, exc

from runyard.contracts import names
from runyard.contracts.delivery import JournalPart, LogPart, Part
from runyard.contracts.states import QUEUED, TERMINAL
from runyard.store import lookups
from runyard.store.content import files
from runyard.store.content.objects import Stored
from runyard.store.errors import Conflict, NotFound, Refused, StoreError, run_not_found
from runyard.store.metrics import journals, staging
from runyard.store.metrics.journals import Incoming
from runyard.store.runs import attempts
from runyard.store.store import Store

log = logging.getLogger("runyard.store")

LARGE = 256 << 10
"""Bytes of a parcel that is stored by itself: taking it in with others would make them wait."""

FOLDED_AT_ONCE = 2
"""Runs whose staged lines are made into points in one transaction: the next group waits for it."""

WRITER = re.compile(r"[A-Za-z0-9_.\-]{1,255}", re.ASCII)
"""How the writer of a journal is called."""

_STATE = """
    SELECT runs.id, runs.serial, runs.status, launches.attempt, launches.restart
    FROM runs JOIN launches ON launches.run = runs.serial WHERE runs.id IN ({keys})
"""


@dataclass(frozen=True)
class RunState:
    """Where a run is now: what the receipt of a delivery reports of it."""

    serial: int
    status: str
    attempt: int
    restart: str | None

    @property
    def live(self) -> bool:
        """Whether its reporter is expected to report on."""
        return self.status not in TERMINAL and not (self.status == QUEUED and self.restart is not None)


@dataclass(eq=False)
class Parcel:
    """The parts of a delivery for a run, and the attempt that has written them. The rest is the result: an answer to
    each part, or `error` for the whole."""

    run_id: str
    parts: Sequence[Part] = ()
    attempt: int | None = None
    answers: list[Answer] = field(default_factory=list)
    state: RunState | None = None
    error: Exception | None = None

    @property
    def size(self) -> int:
        return sum(len(part.data) for part in self.parts)


@dataclass(frozen=True)
class Taken:
    """A part that is stored: a log has `size` bytes under `name` now, a journal is confirmed up to there."""

    size: int
    name: str | None = None


Answer = Taken | StoreError
Logs = Mapping[str, Stored]
"""Logs that are whole, by their names."""

LogKey = tuple[int, str]
"""The serial of a run, and the name of a log of it."""


class Intake:
    """Takes parcels. `take` and `fold_due` are for one thread; `take_alone` may be called from any."""

    def __init__(self, store: Store) -> None:
        self._store = store
        with store.database.read() as connection:
            self._staged = staging.sizes(connection)  # a little too much, where lines came twice
        self._due = [run for run, size in self._staged.items() if size >= staging.ENOUGH]

    def take(self, group: Sequence[Parcel]) -> None:
        """Store a group of parcels in one transaction. If that fails, each of them is stored by itself."""
        try:
            self._take(group)
        except (StoreError, exc.SQLAlchemyError, OSError) as error:
            if len(group) > 1:
                log.warning("%d deliveries could not be stored together: %s", len(group), error)
            for parcel in group:
                self.take_alone(parcel)

    def take_alone(self, parcel: Parcel) -> None:
        """Store a parcel part by part, in as many transactions as it takes."""
        parcel.answers = []
        try:
            with self._store.database.read() as connection:
                _look_up(connection, [parcel])
                places = [_place(connection, parcel, part) for part in parcel.parts]
            if parcel.error is not None:
                return
            for part, place in zip(parcel.parts, places, strict=True):
                parcel.answers.append(self._part_alone(parcel, part, place))
        except Exception as error:  # noqa: BLE001 - raised again where the parcel came from
            parcel.error = error

    def whole_logs(self, parcel: Parcel) -> Logs | None:
        """The parts of a parcel as objects, where each may be all of a log; else None, and nothing is decided. Such a
        log need not grow before it is whole: `files.keep` names it, if the run has no files. Any thread may call."""
        logs = [part for part in parcel.parts if isinstance(part, LogPart) and not part.offset and not part.restart]
        if len(logs) < len(parcel.parts) or parcel.size > LARGE:
            return None
        with self._store.database.look() as connection:
            _look_up(connection, [parcel])
            state = parcel.state
            if state is None or (parcel.attempt is not None and parcel.attempt != state.attempt):
                return None
            places = [_place(connection, parcel, part) for part in logs]
        called = [place for place in places if isinstance(place, str)]
        if len(set(called)) < len(logs):
            return None
        parcel.answers = [Taken(len(part.data), name) for part, name in zip(logs, called, strict=True)]
        return {name: self._store.objects.put([part.data]) for part, name in zip(logs, called, strict=True)}

    def fold_due(self) -> bool:
        """Make points of staged lines where there are enough; returns whether there is more to do."""
        some = self._due[:FOLDED_AT_ONCE]
        if some:
            with self._store.database.write() as connection:
                for run in some:
                    staging.fold(connection, run)
            for run in some:
                self._staged.pop(run, None)
            del self._due[: len(some)]
        return bool(self._due)

    def has_staged(self, parcel: Parcel) -> bool:
        """Whether something may be staged for the run of a parcel. May be called from any thread."""
        return parcel.state is None or parcel.state.serial in self._staged

    def ended(self, parcel: Parcel) -> None:
        """A run has ended: make points of all that is staged for it. May be called from any thread."""
        staging.settle(self._store.database, [parcel.run_id])
        if parcel.state is not None:
            self._staged.pop(parcel.state.serial, None)

    def _take(self, group: Sequence[Parcel]) -> None:
        with self._store.database.look() as connection:
            _look_up(connection, group)
            taken = [parcel for parcel in group if parcel.error is None]
            others = _others(connection, taken)
            places = [[_place(connection, parcel, part) for part in parcel.parts] for parcel in taken]
            logs = list(_logs(taken, places))
            found = files.growing_keys(connection, [(run, name) for _, run, name in logs])
        keys = self._create(logs, found)
        incoming: list[tuple[Parcel, int, Incoming]] = []
        for parcel, here in zip(taken, places, strict=True):
            state = parcel.state
            assert state is not None
            parcel.answers = []
            for part, place in zip(parcel.parts, here, strict=True):
                if isinstance(place, StoreError):
                    parcel.answers.append(place)
                elif isinstance(part, LogPart):
                    key = keys.get((state.serial, place))
                    parcel.answers.append(self._append(parcel.run_id, part, place, key))
                elif (run := state.serial if part.run_id is None else others.get(part.run_id)) is None:
                    parcel.answers.append(run_not_found(str(part.run_id)))
                else:
                    lines = journals.incoming(run, place, part.offset, part.data)
                    incoming.append((parcel, len(parcel.answers), lines))
                    parcel.answers.append(Taken(0))  # until it is
        self._accept(incoming)

    def _create(self, logs: Sequence[tuple[str, int, str]], found: Mapping[LogKey, int | None]) -> dict[LogKey, int]:
        """The keys of the growing files, with those that are made here because they are not there yet."""
        keys = {log: key for log, key in found.items() if key is not None}
        if len(keys) < len({(run, name) for _, run, name in logs}):
            with self._store.database.write() as connection:
                keys |= files.begin_growing(connection, [each[1:] for each in logs if each[1:] not in found])
                for run_id, run, name in logs:
                    if (run, name) not in keys:  # it was whole, and grows on
                        key = files.growing(connection, run_id, name).growing
                        assert key is not None
                        keys[run, name] = key
        return keys

    def _accept(self, incoming: Sequence[tuple[Parcel, int, Incoming]]) -> None:
        """The journals of a group. Those that touch many rows are left for transactions of their own."""
        short = [each for each in incoming if not journals.is_long(each[2].batch)]
        if short:
            with self._store.database.write() as connection:
                answers = journals.accept_many(connection, [each[2] for each in short])
            for (parcel, position, lines), answer in zip(short, answers, strict=True):
                parcel.answers[position] = Taken(answer) if isinstance(answer, int) else answer
                if isinstance(answer, int):
                    self._count(lines.run, len(lines.data))
        for parcel, position, lines in incoming:
            if journals.is_long(lines.batch):
                part = parcel.parts[position]
                parcel.answers[position] = self._part_alone(parcel, part, lines.writer)

    def _count(self, run: int, size: int) -> None:
        before = self._staged.get(run, 0)
        self._staged[run] = before + size
        if before < staging.ENOUGH <= before + size:
            self._due.append(run)

    def _part_alone(self, parcel: Parcel, part: Part, place: str | StoreError) -> Answer:
        if isinstance(place, StoreError):
            return place
        if isinstance(part, LogPart):
            return self._append(parcel.run_id, part, place, None)
        run_id = part.run_id or parcel.run_id
        try:
            return Taken(journals.take(self._store.database, run_id, part.writer, part.offset, part.data))
        except (Conflict, Refused, NotFound) as error:
            if error.code == "run_not_found" and part.run_id is None:
                raise
            return error

    def _append(self, run_id: str, part: LogPart, name: str, key: int | None) -> Answer:
        arguments = (run_id, name, part.offset, part.data, part.restart)
        try:
            if key is None:
                return Taken(files.append(self._store, *arguments), name)
            return Taken(files.append_to(self._store, key, *arguments), name)
        except (Conflict, Refused) as error:
            return error


def _look_up(connection: Connection, group: Sequence[Parcel]) -> None:
    found = _states_of(connection, {parcel.run_id for parcel in group})
    for parcel in group:
        parcel.state = found.get(parcel.run_id)
        parcel.error = None if parcel.state is not None else run_not_found(parcel.run_id)


def _states_of(connection: Connection, run_ids: Iterable[str]) -> dict[str, RunState]:
    wanted = [(run_id,) for run_id in run_ids]
    return {run_id: RunState(*columns) for run_id, *columns in lookups.rows(connection, _STATE, wanted)}


def _others(connection: Connection, group: Sequence[Parcel]) -> dict[str, int]:
    """The serials of the other runs that journals in the parcels name."""
    named = {part.run_id for part in _journals(group) if part.run_id is not None}
    return {run_id: each.serial for run_id, each in _states_of(connection, named).items()} if named else {}


def _place(connection: Connection, parcel: Parcel, part: Part) -> str | StoreError:
    """What the file of a part is called, or the writer of its journal; or why that is no name."""
    try:
        if isinstance(part, JournalPart):
            if not WRITER.fullmatch(part.writer):
                title = f"{names.shown(part.writer)} is no name for a journal's writer."
                return Refused("bad_name", title, "Use 1 to 255 letters, digits, '_', '.' or '-'.")
            return part.writer
        if part.restart and part.offset:
            title = "A file that begins anew begins at offset 0."
            return Refused("bad_request", title, "Send restart=true with offset=0.")
        name = names.check_file(part.name)
    except names.BadName as error:
        return Refused("bad_name", str(error), "Choose another name.")
    state = parcel.state
    if state is None or parcel.attempt is None or parcel.attempt >= state.attempt:
        return name
    return attempts.place_of(connection, parcel.run_id, name, parcel.attempt)


def _journals(group: Sequence[Parcel]) -> Iterable[JournalPart]:
    return (part for parcel in group for part in parcel.parts if isinstance(part, JournalPart))


def _logs(group: Sequence[Parcel], places: Sequence[Sequence[str | StoreError]]) -> Iterable[tuple[str, int, str]]:
    """The growing files that a group writes to: the run of each, its serial, and the name."""
    for parcel, here in zip(group, places, strict=True):
        assert parcel.state is not None
        for part, place in zip(parcel.parts, here, strict=True):
            if isinstance(part, LogPart) and isinstance(place, str):
                yield parcel.run_id, parcel.state.serial, place
