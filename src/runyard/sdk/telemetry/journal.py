"""Writing a run's journal (`runyard.contracts.journal`): one line per record, at once, in this process's own file.

This is the cost of `run.log` in a training loop. So there is one system call per record and nothing else: no lock, no
thread, no buffer. Records survive the death of the process. Nothing here raises because of the disk: what cannot be
written stays in memory and is retried with the next record and at exit.
"""

from __future__ import annotations

import atexit
import errno
import fcntl
import os
import weakref
from json.encoder import encode_basestring_ascii
from pathlib import Path
from time import time
from typing import Any, Mapping, Sequence

from runyard.contracts import journal as contract
from runyard.sdk.exceptions import UserErrorException
from runyard.sdk.notices import notice, notice_once
from runyard.sdk.telemetry.scalars import Scalar, readable, refuse_many, scalar, step_number

HIGH_DESCRIPTOR = 200  # above what user code opens: code that closes descriptors by number must not hit the journal's

_open: weakref.WeakSet[Journal] = weakref.WeakSet()


class Journal:
    """The journal of one run in this process. The file is created with the first record.

    After a fork, the child continues in a file of its own.
    """

    __slots__ = ("__weakref__", "_descriptions", "_descriptor", "_left", "_prefixes", "files", "folder", "run_id")

    def __init__(self, folder: Path, run_id: str) -> None:
        self.folder, self.run_id = folder, run_id
        self.files: list[Path] = []  # what this process has written
        self._descriptor = -1  # writing to it fails with EBADF, and that opens the file: no test in the fast path
        self._left = b""  # what the disk did not take
        self._prefixes: dict[str, str] = {}
        self._descriptions: dict[str, str] = {}
        _open.add(self)

    def value(self, name: str, value: object, step: int | None = None) -> None:
        """Write one value of a metric."""
        kind = type(value)
        if kind is float:
            text = repr(value) if value - value == 0.0 else contract.encode_float(value)  # type: ignore[operator,arg-type]
        elif kind is int and -(1 << 63) <= value < 1 << 63:  # type: ignore[operator]
            text = repr(value)
        else:
            text = self._text(name, value)
        try:
            prefix = self._prefixes[name]
        except (KeyError, TypeError):
            prefix = self._prefix(name)
        if step is None:
            line = f"{prefix}{text},{time()!r},null]\n".encode("ascii")
        else:
            if type(step) is not int:
                step = self._step(name, step)
            line = f"{prefix}{text},{time()!r},{'null' if step is None else step}]\n".encode("ascii")
        self.write(line)

    def values(self, name: str, items: Sequence[Scalar]) -> None:
        self.write(contract.line(contract.LIST, name, [contract.pack_value(item) for item in items], time()))

    def rows(self, name: str, columns: Mapping[str, Sequence[Scalar]]) -> None:
        packed = {column: [contract.pack_value(item) for item in items] for column, items in columns.items()}
        self.write(contract.line(contract.TABLE, name, packed, time()))

    def artifact(self, name: str, type_name: str, file: str) -> None:
        self.write(contract.line(contract.ARTIFACT, name, type_name, file, time()))

    def description(self, name: str, text: str | None) -> None:
        """Write the description of a metric, unless it is the one that was written last."""
        if text and self._descriptions.get(name) != text:
            self._descriptions[name] = text
            self.write(contract.line(contract.DESCRIPTION, name, readable(str(text))))

    def file(self, name: str, spool: str) -> None:
        self.write(contract.line(contract.FILE, name, spool))

    def tags(self, tags: Mapping[str, str | None]) -> None:
        self.write(contract.line(contract.TAGS, dict(tags)))

    def untag(self, keys: Sequence[str]) -> None:
        self.write(contract.line(contract.UNTAG, list(keys)))

    def properties(self, properties: Mapping[str, str]) -> None:
        self.write(contract.line(contract.PROPERTIES, dict(properties)))

    def end(self, outcome: str, error: dict[str, Any] | None) -> None:
        self.write(contract.line(contract.END, outcome, error))

    def write(self, line: bytes) -> None:
        """Append one record. It never raises: see the module's text."""
        if self._left:
            self._again(line)
            return
        try:
            written = os.write(self._descriptor, line)
        except OSError as error:
            self._failed(line, error)
            return
        if written != len(line):
            self._left = line[written:]

    @property
    def unwritten(self) -> int:
        """How many bytes could not be written so far."""
        return len(self._left)

    def settle(self) -> bool:
        """Retry what could not be written; whether nothing is left."""
        if self._left:
            self._again(b"")
        return not self._left

    def close(self) -> None:
        self.settle()
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    # -- the slow paths ---------------------------------------------------------------------------------------------

    def _text(self, name: str, value: object) -> str:
        refuse_many(name, value)
        stored, same = scalar(value)
        if not same:
            notice_once(
                f"{self.run_id} {name}",
                f"The metric {name!r} got a value of the type {type(value).__name__}, which is no number, string or "
                "bool: its text form was kept. (This is said once per metric.)",
            )
        if isinstance(stored, str):
            return encode_basestring_ascii(stored)
        if isinstance(stored, bool) or stored is None:
            return {True: "true", False: "false", None: "null"}[stored]
        return contract.encode_float(stored) if isinstance(stored, float) else repr(stored)

    def _prefix(self, name: str) -> str:
        checked = metric_name(name)
        prefix = f'["{contract.VALUE}",{encode_basestring_ascii(checked)},'
        if type(name) is str:  # 1 and True and 1.0 are one key of a dict, but three names
            self._prefixes[name] = prefix
        return prefix

    def _step(self, name: str, step: object) -> int | None:
        number, exact = step_number(name, step)
        if not exact:
            notice_once(
                f"{self.run_id} {name} step",
                f"The step of the metric {name!r} should be a whole number and was {step!r}: {number} was kept.",
            )
        return number

    def _failed(self, line: bytes, error: OSError) -> None:
        """The write failed as a whole: the file is not open yet, or the disk takes nothing."""
        if error.errno == errno.EBADF:
            self._descriptor = -1
            self._again(line)
        else:
            self._left = line
            self._tell(error)

    def _again(self, line: bytes) -> None:
        """Complete what was left half-written, then write the line."""
        self._left += line
        try:
            while self._left:
                if self._descriptor < 0:
                    self._open_file()
                self._left = self._left[os.write(self._descriptor, self._left) :]
        except OSError as error:
            self._tell(error)

    def _tell(self, error: OSError) -> None:
        notice_once(
            f"{self.folder} disk",
            f"Runyard cannot write to {self.folder} ({error.strerror}). The run goes on; what it logs is kept in "
            "memory and written when the disk takes it. Free some space there.",
        )

    def _open_file(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        writer = contract.writer_name(own_rank(), f"{os.getpid()}-{os.urandom(4).hex()}")
        path = self.folder / contract.file_name(self.run_id, writer)
        low = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
        try:
            self._descriptor = fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR)
        except OSError:  # the process may not have that many
            self._descriptor = low
        else:
            os.close(low)
        self.files.append(path)

    def _forked(self) -> None:
        """In the child: pending records belong to the parent, and so does the file."""
        descriptor, self._descriptor = self._descriptor, -1
        self._left, self.files = b"", []
        if descriptor >= 0:
            os.close(descriptor)


def own_rank() -> int | None:
    """The rank of this process, set by its nearest launcher: torchrun in a run's command, or the node runner."""
    for name in ("RANK", contract.RANK_VARIABLE):
        text = os.environ.get(name, "")
        if text.isascii() and text.isdigit() and len(text) < 10:
            return int(text)
    return None


def metric_name(name: object) -> str:
    """The name of a metric as text; UserErrorException when it is empty."""
    text = readable(name if type(name) is str else str(name))
    if not text.strip():
        raise UserErrorException("A metric needs a name: the one given is empty.")
    return text


def _after_fork() -> None:
    for journal in list(_open):
        journal._forked()


def _at_exit() -> None:
    for journal in list(_open):
        if not journal.settle():
            notice(
                f"{journal.unwritten} bytes that run {journal.run_id} logged are lost: {journal.folder} took no more."
            )


os.register_at_fork(after_in_child=_after_fork)
atexit.register(_at_exit)
