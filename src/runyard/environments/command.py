"""Running the tools that build environments: their lines go to the log as they come, and they end when they must."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Iterable, Iterator, Mapping, Sequence

from runyard.system.processes import end_with_parent

LOOK_EVERY = 0.2
GRACE = 3.0


@dataclass(frozen=True)
class Finished:
    """How a tool ended, and all that it wrote."""

    code: int
    output: str

    @property
    def ok(self) -> bool:
        return self.code == 0


def run(
    argv: Sequence[str | os.PathLike[str]],
    report: Callable[[str], None],
    check: Callable[[], None],
    variables: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Finished:
    """Run a tool to its end. `report` gets each line; when `check` raises, the tool is killed with all its children."""
    process = subprocess.Popen(
        [os.fspath(argument) for argument in argv],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=folder,
        env=None if variables is None else dict(variables),
        start_new_session=True,
        preexec_fn=end_with_parent(),
    )
    output: list[str] = []
    try:
        for line in lines(_chunks(process, check)):
            output.append(line)
            report(line)
        return Finished(process.wait(), "\n".join(output))
    finally:
        if process.poll() is None:
            _end(process)
        assert process.stdout is not None
        process.stdout.close()


def lines(chunks: Iterable[bytes]) -> Iterator[str]:
    """Chunks of bytes as lines. A progress bar that is drawn over and over counts as many."""
    rest = b""
    for chunk in chunks:
        *whole, rest = (rest + chunk).replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        for line in whole:
            yield line.decode("utf-8", "replace")
    if rest:
        yield rest.decode("utf-8", "replace")


def _chunks(process: subprocess.Popen[bytes], check: Callable[[], None]) -> Iterator[bytes]:
    assert process.stdout is not None
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while True:
            check()
            if not selector.select(LOOK_EVERY):
                if process.poll() is not None:
                    return  # something that it started holds the pipe open
                continue
            chunk = os.read(process.stdout.fileno(), 1 << 16)
            if not chunk:
                return
            yield chunk


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the tool and its session: first politely, so that it can remove its temporary files."""
    deadline = time.monotonic() + GRACE
    _signal(process, signal.SIGTERM)
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    _signal(process, signal.SIGKILL)
    process.wait()


def _signal(process: subprocess.Popen[bytes], number: int) -> None:
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        return  # all of it has ended
