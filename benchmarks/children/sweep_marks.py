"""The moments at which trials ran, one per line of a file: how many per second, and the gap from one to the next."""

from __future__ import annotations

import json
import os
import statistics
import time


def mark(path: str) -> None:
    """A trial runs, and does nothing else."""
    with open(path, "ab", buffering=0) as file:
        file.write(b"%.6f\n" % time.time())


def answer(path: str, at_once: int, began: float, ended: float) -> None:
    """Print what the marks tell. The trial that comes `at_once` after another has taken a place like its own."""
    with open(path, encoding="ascii") as file:
        marks = sorted(map(float, file.read().split()))
    gaps = [later - earlier for earlier, later in zip(marks, marks[at_once:], strict=False)]
    told = {"trials": len(marks), "seconds": ended - began, "gap": statistics.median(gaps) if gaps else 0.0}
    print("\n" + json.dumps(told), flush=True)


def command(path: str) -> list[str]:
    """A trial that is a process."""
    return ["sh", "-c", f"date +%s.%N >> {os.path.abspath(path)}"]
