"""The frame of every benchmark: contenders in turn, several rounds, each in a process of its own."""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

import psutil

from benchmarks.venvs import Environment, NotInstalled, Say, variables

CHILDREN = Path(__file__).resolve().parent / "children"

T = TypeVar("T")
Measure = Callable[[], T]


class Failed(Exception):
    """A contender did not do what it was asked; the text says what it said."""


@dataclass
class Outcome(Generic[T]):
    """What came of one contender: a sample per round, or the reason why there is none."""

    samples: list[T] = field(default_factory=list)
    failure: str = ""


def in_turn(contenders: Mapping[str, Measure[T]], rounds: int, say: Say) -> dict[str, Outcome[T]]:
    """Measure every contender once per round, so that a slow spell of the machine hits them all alike.

    Every second round goes the other way round: nobody always comes after the same other.
    """
    outcomes: dict[str, Outcome[T]] = {name: Outcome() for name in contenders}
    for number in range(1, rounds + 1):
        for name, contender in list(contenders.items())[:: 1 if number % 2 else -1]:
            if outcomes[name].failure:
                continue
            say(f"round {number} of {rounds}: {name}")
            try:
                outcomes[name].samples.append(contender())
            except (Failed, NotInstalled, TimeoutError) as error:
                outcomes[name].failure = str(error)
    return outcomes


def script(name: str) -> str:
    return str(CHILDREN / name)


def answer(command: Sequence[str], more: Mapping[str, str] | None = None, timeout: float = 300) -> Any:
    """Run a child to its end; the last line that it prints is its answer, as JSON."""
    try:
        done = subprocess.run(command, env=variables(**(more or {})), capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        raise Failed(f"no answer within {timeout:.0f} s") from None
    if done.returncode != 0 or not done.stdout.strip():
        raise Failed(last_words(done.stderr) or f"ended with {done.returncode} and no answer")
    return json.loads(done.stdout.splitlines()[-1])


def last_words(said: str) -> str:
    """The line of an output that most likely says what went wrong."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    telling = [line for line in lines if re.search("error|exception|failed|cannot", line, re.IGNORECASE)]
    return (telling or lines or [""])[-1]


class Conversation:
    """A child that stays up: it is asked by a line on its standard input and answers with a line of JSON."""

    def __init__(self, command: Sequence[str], log: Path, **more: str) -> None:
        self._log = log
        with log.open("wb") as errors:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, env=variables(**more)
            )
        self._pending = b""

    def ask(self, *words: object, timeout: float = 60) -> Any:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(words).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._gone() from None
        return self.answer(timeout)

    def answer(self, timeout: float = 60) -> Any:
        """The next line of JSON that it says, asked or not."""
        deadline = time.monotonic() + timeout
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        while True:
            line, newline, rest = self._pending.partition(b"\n")
            if newline:
                self._pending = rest
                if line.startswith(b"{"):
                    return json.loads(line)
                continue
            if not select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise Failed("no answer in time: " + last_words(self._log.read_text("utf-8", "replace")))
            chunk = os.read(descriptor, 1 << 16)
            if not chunk:
                raise self._gone()
            self._pending += chunk

    def _gone(self) -> Failed:
        said = last_words(self._log.read_text("utf-8", "replace"))
        return Failed(said or "it ended before it had answered")

    def close(self) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            end_tree(self._process)
        if self._process.stdout is not None:
            self._process.stdout.close()


def wait_until(condition: Callable[[], T | None], what: str, timeout: float = 60, interval: float = 0.01) -> T:
    """Ask until the answer is not None (nor false); TimeoutError when that takes too long."""
    deadline = time.monotonic() + timeout
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what} did not happen within {timeout:.0f} s")
        time.sleep(interval)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def end_tree(process: subprocess.Popen[bytes], grace: float = 5) -> None:
    """End a process that this benchmark has started, and all its descendants."""
    try:
        tree = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
    except psutil.NoSuchProcess:
        tree = []
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGTERM)
    try:
        process.wait(grace)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    _, alive = psutil.wait_procs(tree, timeout=grace)
    for left in alive:
        with contextlib.suppress(psutil.NoSuchProcess):
            left.kill()
    psutil.wait_procs(alive, timeout=grace)


@contextlib.contextmanager
def yard(runyard: Environment) -> Iterator[Path]:
    """A fresh RUNYARD_HOME; the server that a client has started in it is stopped at the end."""
    with tempfile.TemporaryDirectory(prefix="runyard-benchmark-", ignore_cleanup_errors=True) as folder:
        home = Path(folder) / "home"
        try:
            yield home
        finally:
            stop = [runyard.command("runyard"), "down"]
            subprocess.run(stop, env=variables(RUNYARD_HOME=str(home)), capture_output=True, timeout=60)
