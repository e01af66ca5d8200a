"""Delivering the journals of a telemetry folder (`runyard.contracts.journal`), and the files that they announce."""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Iterator

from runyard.contracts import journal as contract
from runyard.contracts import pack
from runyard.contracts.delivery import JournalPart
from runyard.node.delivery.batch import Batch
from runyard.node.delivery.growing_files import open_regular
from runyard.node.delivery.reporter import Answer
from runyard.node.delivery.retrying_client import Refused, RetryingClient
from runyard.node.log import log_line

AT_ONCE = 1_000_000  # bytes of one journal in one delivery, about

# Records that mean something to the delivery: files to upload first, and the end of a run.
_OURS = re.compile(rb'^\["[fe]",.*$', re.MULTILINE)

# A record without effect, which can be drawn out to any length from here on: it takes the place of a bad one, because
# a journal is numbered by bytes and nothing in it can be left out.
_NOTHING = (b'["g",{}', b"]\n")
_SHORTEST = len(_NOTHING[0]) + len(_NOTHING[1])


@dataclass(frozen=True)
class End:
    """The record that ends an interactive run."""

    run_id: str
    outcome: str
    error: dict[str, Any] | None


@dataclass
class _Lines:
    """Lines of a journal that are being delivered, in one piece where the server takes them so."""

    pieces: list[bytes]  # the last goes first
    files: list[tuple[str, str]]
    ends: list[End]


@dataclass
class _Journal:
    path: Path
    run_id: str
    writer: str
    confirmed: int
    stuck: bool = False
    lines: _Lines | None = None


@dataclass
class Journals:
    """Every journal of one telemetry folder, from where the server has confirmed it."""

    client: RetryingClient
    folder: Path
    warnings: list[str] = field(default_factory=list)
    _journals: dict[str, _Journal] = field(default_factory=dict)
    _ends: list[End] = field(default_factory=list)

    def gather(self, batch: Batch) -> None:
        """Add what the journals gained, up to `AT_ONCE` bytes of each. Files that they announce are uploaded before."""
        self._look_for_new()
        for journal in self._journals.values():
            if not journal.stuck:
                self._gather(journal, batch)

    gather_rest = gather

    def piles_up(self) -> bool:
        """Whether so much waits that a delivery could be full of it."""
        waiting = 0
        with suppress(OSError), os.scandir(f"{self.folder}/journal") as found:
            for entry in found:
                journal = self._journals.get(entry.name)
                if entry.name.endswith(".jsonl") and not (journal is not None and journal.stuck):
                    waiting += entry.stat().st_size - (journal.confirmed if journal is not None else 0)
        return waiting >= AT_ONCE

    @property
    def ending(self) -> bool:
        """Whether lines that end a run are being delivered, or were delivered and not taken yet."""
        return bool(self._ends) or any(each.lines is not None and each.lines.ends for each in self._journals.values())

    def take_ends(self) -> list[End]:
        """The ends of runs that were delivered since the last call."""
        ends, self._ends = self._ends, []
        return ends

    def _look_for_new(self) -> None:
        try:
            found = os.listdir(f"{self.folder}/journal")
        except FileNotFoundError:
            return
        for name in sorted(found):
            if name in self._journals or not name.endswith(".jsonl"):
                continue
            path = self.folder / "journal" / name
            try:
                if not path.is_file():
                    raise ValueError(f"{name!r} is not a regular file")
                run_id, writer = contract.parse_file_name(name)
            except ValueError as error:
                self.warnings.append(f"A file in the journal's folder was left alone: {error}.")
                self._journals[name] = _Journal(path, "", "", 0, stuck=True)
                continue
            journal = self._journals[name] = _Journal(path, run_id, writer, _read_ack(path))
            if journal.confirmed:  # by a process that may have died before it could report an end
                self._ends += self._ends_before(journal)

    def _ends_before(self, journal: _Journal) -> list[End]:
        ends, position = [], 0
        with open(journal.path, "rb") as file:
            for line in file:
                position += len(line)
                if position > journal.confirmed:
                    break
                if line.startswith(b'["e",'):
                    ends += self._ours(journal, line)[1]
        return ends

    def _gather(self, journal: _Journal, batch: Batch) -> None:
        if journal.lines is None:
            lines, more = _whole_lines(journal.path, journal.confirmed)
            if not lines:
                return
            batch.more |= more
            files, ends = self._ours(journal, lines)
            for name, spool in files:
                self._upload(journal.run_id, name, spool)
            journal.lines = _Lines([lines], files, ends)
        piece = journal.lines.pieces[-1]
        batch.more |= len(journal.lines.pieces) > 1
        if batch.room(len(piece)) < len(piece):
            batch.more = True
            return
        run_id = None if journal.run_id == self.client.run_id else journal.run_id
        part = JournalPart(journal.writer, journal.confirmed, piece, run_id)
        batch.add(part, lambda answer: self._take(journal, answer))

    def _take(self, journal: _Journal, answer: Answer) -> None:
        """Go on after the answer to a piece. Where a record is refused, the others go through and one without effect
        takes its place."""
        lines = journal.lines
        assert lines is not None
        piece = lines.pieces.pop()
        if not isinstance(answer, Refused):
            # Not the server's offset: it may be ahead, and then there may be ends of runs in between.
            journal.confirmed += len(piece)
            if not lines.pieces:
                self._confirm(journal, lines)
        elif answer.code == "offset_gap":
            journal.confirmed, journal.lines = int(answer.detail["offset"]), None
        elif answer.code == "bad_journal" and _middle(piece):
            lines.pieces += [piece[_middle(piece) :], piece[: _middle(piece)]]
        elif answer.code == "bad_journal" and len(piece) >= _SHORTEST and not _without_effect(piece):
            self.warnings.append(f"A record of the journal {journal.path.name} was refused: {answer}")
            lines.pieces.append(_NOTHING[0].ljust(len(piece) - len(_NOTHING[1])) + _NOTHING[1])
        else:
            journal.stuck, journal.lines = True, None
            self.warnings.append(f"The journal {journal.path.name} was refused: {answer}")

    def _confirm(self, journal: _Journal, lines: _Lines) -> None:
        """All of it is stored by the server: only now is it done with here."""
        journal.lines = None
        _write_ack(journal)
        for _, spool in lines.files:
            with suppress(OSError):  # it goes with the folder in the end
                self._spooled(spool).unlink()
        self._ends += lines.ends

    def _ours(self, journal: _Journal, lines: bytes) -> tuple[list[tuple[str, str]], list[End]]:
        files, ends = [], []
        for match in _OURS.finditer(lines):
            try:
                record = json.loads(match[0])
                if record[0] == contract.FILE:
                    files.append((str(record[1]), str(record[2])))
                else:
                    ends.append(_end(journal.run_id, record[1], record[2]))
            except (ValueError, IndexError, RecursionError) as error:
                self.warnings.append(f"A record of the journal {journal.path.name} cannot be read: {error}")
        return files, ends

    def _upload(self, run_id: str, name: str, spool: str) -> None:
        try:
            with open_regular(self._spooled(spool)) as file:
                digest, size = pack.digest_of(file)
                self.client.put(name, lambda: _from_start(file), size, digest, run_id)
        except OSError as error:
            self.warnings.append(f"{name} could not be kept: its bytes cannot be read ({error}).")
        except Refused as refusal:
            self.warnings.append(f"{name} was refused by the server: {refusal}")

    def _spooled(self, spool: str) -> Path:
        return self.folder / "spool" / os.path.basename(spool)


def _end(run_id: str, outcome: object, error: object) -> End:
    """The end of a run in a form that the server accepts: no record, whoever wrote it, may leave the run open."""
    if outcome not in ("completed", "failed", "canceled"):
        raise ValueError(f"{outcome!r} is no end of a run")
    if error is not None and not isinstance(error, dict):
        error = {"code": "UserError", "message": str(error)}
    return End(run_id, str(outcome), error)


def _from_start(file: Any) -> Iterator[bytes]:
    file.seek(0)
    return iter(lambda: file.read(pack.CHUNK), b"")


def _whole_lines(path: Path, offset: int) -> tuple[bytes, bool]:
    """The lines that are complete, from `offset` on, about `AT_ONCE` bytes of them, at least one if there is one; and
    whether there may be more."""
    size = AT_ONCE
    try:
        there = os.stat(path).st_size - offset
        if there <= 0:
            return b"", False
        with open_regular(path) as file:
            while True:
                file.seek(offset)
                chunk = file.read(min(size, there))
                end = chunk.rfind(b"\n") + 1
                if end or len(chunk) < size:
                    return chunk[:end], len(chunk) == size
                size *= 4  # one very long line
    except FileNotFoundError:
        return b"", False


def _without_effect(record: bytes) -> bool:
    return record.startswith(_NOTHING[0]) and not record[len(_NOTHING[0]) : -len(_NOTHING[1])].strip()


def _middle(lines: bytes) -> int:
    """Where to split lines in two, near the middle, so that both parts are long enough to be replaced; 0: nowhere."""
    last = len(lines) - _SHORTEST
    after = lines.find(b"\n", max(len(lines) // 2, _SHORTEST) - 1, last) + 1
    return after or lines.rfind(b"\n", _SHORTEST - 1, max(len(lines) // 2, 0)) + 1


def _read_ack(journal: Path) -> int:
    """How much of a journal is confirmed. What cannot be right counts as nothing: to send it again does no harm, to
    leave it out would lose it."""
    try:
        confirmed = int(journal.with_suffix(".ack").read_text("ascii"))
        if confirmed <= 0:
            return 0
        with open_regular(journal) as file:
            file.seek(confirmed - 1)
            return confirmed if file.read(1) == b"\n" else 0
    except (FileNotFoundError, ValueError, OverflowError):
        return 0


def _write_ack(journal: _Journal) -> None:
    ack = journal.path.with_suffix(".ack")
    aside = ack.with_suffix(".ack-new")
    try:
        aside.write_text(str(journal.confirmed), "ascii")
        os.replace(aside, ack)
    except OSError as error:
        # On a full disk, for instance. What is sent twice does no harm, so the journal goes on.
        log_line(f"{ack.name} could not be written: {error}")
