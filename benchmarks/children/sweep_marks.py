"""The moments at which trials began and ended, one per line of two files: how many per second, and the gap from the end
of one to the start of the next."""

from __future__ import annotations

import json
import os
import shlex
import statistics
import time


def program(folder: str, path: str, seconds: float = 0.0) -> str:
    """A trial that is a program of its own, the same for every contender, in a folder: it writes down when it began,
    lasts for so long, and writes down when it ended."""
    marks = shlex.quote(os.path.abspath(path))
    lines = ["#!/bin/sh", f"date +%s.%N >> {marks}"]
    if seconds:
        lines += [f"sleep {seconds:g}", f"date +%s.%N >> {marks}.ends"]
    file = os.path.join(folder, "trial")
    with open(file, "w", encoding="utf-8") as made:
        made.write("\n".join(lines) + "\n")
    os.chmod(file, 0o755)
    return file


def call(path: str, seconds: float = 0.0) -> None:
    """The same as a call of a function: nothing is started."""
    _mark(path)
    if seconds:
        time.sleep(seconds)
        _mark(f"{path}.ends")


def answer(path: str, at_once: int, began: float, ended: float) -> None:
    """Print what the marks tell. The trial that comes `at_once` after another has taken a place like its own. One that
    does nothing ends as it begins."""
    starts = _read(path)
    ends = _read(f"{path}.ends") if os.path.exists(f"{path}.ends") else starts
    gaps = [later - earlier for earlier, later in zip(ends, starts[at_once:], strict=False)]
    told = {"trials": len(starts), "seconds": ended - began, "gap": statistics.median(gaps) if gaps else 0.0}
    print("\n" + json.dumps(told), flush=True)


def _read(path: str) -> list[float]:
    with open(path, encoding="ascii") as file:
        return sorted(map(float, file.read().split()))


def _mark(path: str) -> None:
    with open(path, "a", encoding="ascii") as file:
        file.write(f"{time.time():.9f}\n")
