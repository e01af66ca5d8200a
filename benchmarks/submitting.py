"""What the benchmarks from a submit to a moment in the script share: the pipe that the moment comes through."""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.measure import Failed, Measure, last_words
from benchmarks.venvs import variables


class Pipe:
    """A named pipe: scripts write the time into it as into any file, and the reader wakes without polling."""

    def __init__(self, writers: int = 1) -> None:
        self._writers = writers

    def __enter__(self) -> Pipe:
        self._folder = tempfile.mkdtemp(prefix="moment-")
        self.path = os.path.join(self._folder, "time")
        os.mkfifo(self.path)
        self._descriptor = os.open(self.path, os.O_RDWR | os.O_NONBLOCK)
        return self

    def read(self, timeout: float = 90) -> float:
        """The moment at which the last of the writers was there."""
        said, deadline = b"", time.monotonic() + timeout
        while (there := said.count(b"\n")) < self._writers:
            if not select.select([self._descriptor], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise Failed(f"{there} of {self._writers} scripts were there within {timeout:.0f} s")
            said += os.read(self._descriptor, 1000)
        return max(map(float, said.split()))

    def __exit__(self, *error: object) -> None:
        os.close(self._descriptor)
        shutil.rmtree(self._folder)


def commanded(
    command: Callable[[str], object], then: Callable[[], object] | None = None, writers: int = 1
) -> Measure[float]:
    """Give a command the path of a pipe, and measure until the scripts that it starts are there."""

    def measured() -> float:
        with Pipe(writers) as pipe:
            submitted = time.time()
            command(pipe.path)
            there = pipe.read()
            if then is not None:
                then()
        return there - submitted

    return measured


def call(command: list[str], **more: str) -> None:
    """Run a command of a launcher to its end."""
    try:
        done = subprocess.run(command, env=variables(**more), capture_output=True, text=True, timeout=90)
    except subprocess.TimeoutExpired:
        raise Failed(f"{Path(command[0]).name} did not end within 90 s") from None
    if done.returncode != 0:
        raise Failed(last_words(done.stderr) or f"{command[0]} ended with {done.returncode}")
