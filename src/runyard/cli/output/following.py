"""Following a run: its logs as they grow and its states, on the screen or as JSON."""

from __future__ import annotations

import codecs
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from runyard.cli.output import screen
from runyard.contracts import states
from runyard.contracts.history import former_log

if TYPE_CHECKING:
    from runyard.cli.api import Api
    from runyard.contracts.documents import RunDocument, StateDocument

Sink = Callable[[bytes, int], None]
"""Takes the next bytes of a log, and the offset at which they begin."""


class Tail:
    """One log of a run, read from where it was last read."""

    def __init__(self, server: Api, run_id: str, name: str, sink: Sink) -> None:
        self.name = name
        self.offset = 0
        self._server, self._run_id, self._sink = server, run_id, sink

    def advance(self) -> None:
        """Pass on what was appended to the log."""
        from runyard.client.http import ClientProblem

        try:
            self._read(self.name)
        except ConnectionError:
            return  # the next event, or the end, reads on from here
        except ClientProblem as problem:
            if problem.code != "bad_range":
                raise
            self.offset = 0  # the file was emptied at its source and is written anew
            self.advance()

    def begin_anew(self, attempt: int) -> None:
        """The run starts again, and so does its log. Its last lines were moved to the logs of that attempt."""
        from runyard.client.http import ClientProblem

        with suppress(ConnectionError, ClientProblem):  # it is in the history, and can be read whole there
            self._read(former_log(self.name, attempt))
        self.offset = 0

    def _read(self, name: str) -> None:
        for chunk in self._server.read(self._run_id, name, self.offset):
            self._sink(chunk, self.offset)
            self.offset += len(chunk)


class Attempts:
    """Notices when a run that is followed has been started again."""

    def __init__(self, server: Api, run: RunDocument) -> None:
        self._server, self._run_id = server, run["id"]
        self._last = run.get("attempt", 1)

    def over(self) -> int | None:
        """The attempt that is over, if another one has started since the last call."""
        now = self._server.run(self._run_id).get("attempt", 1)
        over, self._last = self._last, now
        return over if now > over else None


class _Line:
    """Whether the log has left a line open on standard output: a progress bar does, until it is full."""

    is_open = False


def write(chunk: bytes, offset: int) -> None:
    sys.stdout.buffer.write(chunk)
    sys.stdout.buffer.flush()
    _Line.is_open = not chunk.endswith(b"\n")


def end_line() -> None:
    """What comes next on standard output begins a line of its own."""
    if _Line.is_open:
        print(flush=True)
        _Line.is_open = False


def note(text: str) -> None:
    """A line on standard error, for the person who looks on. It does not break into a line of the log."""
    if _is_one_place():
        end_line()
    print(text, file=sys.stderr, flush=True)


def _is_one_place() -> bool:
    """Whether both streams go to the same terminal, pipe or file."""
    try:
        return os.path.sameopenfile(sys.stdout.fileno(), sys.stderr.fileno())
    except (OSError, ValueError):
        return False


def json_sink(**more: object) -> Sink:
    """One JSON line per piece. Bytes of a character that is cut in two wait for the rest of it."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def sink(chunk: bytes, offset: int) -> None:
        text = decoder.decode(chunk)
        if text:
            screen.event({"event": "log", **more, "offset": offset, "text": text})

    return sink


class Prefixed:
    """A sink that writes whole lines, each with the rank before it, so that those of several ranks stay apart."""

    def __init__(self, rank: int, width: int) -> None:
        self._mark = f"[{rank:{width}}] ".encode()
        self._rest = b""

    def __call__(self, chunk: bytes, offset: int) -> None:
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        if lines:
            write(b"".join(self._mark + line + b"\n" for line in lines), offset)

    def end(self) -> None:
        """Nothing more comes: a last line without an end is a line too."""
        if self._rest:
            self(b"\n", 0)


def show_state(change: StateDocument, as_json: bool) -> None:
    """A change of state: for a program always, for a person while there is nothing else to see. That a run was made is
    nothing to see: it is in its queue a moment later, and says why."""
    if as_json:
        screen.event({"event": "state", **change})
    elif change["status"] not in (*states.TERMINAL, states.RUNNING, states.NOT_STARTED):
        note(change["status"] + (f": {change['reason']}" if change["reason"] else ""))


@contextmanager
def interruptible(run_id: str) -> Iterator[None]:
    """Ctrl-C ends the following, not the run; a note says so."""
    try:
        yield
    except KeyboardInterrupt:
        note(f"\nThe run goes on. `runyard logs -f {run_id}` follows it again; `runyard stop {run_id}` ends it.")
        raise
