"""The moments at which trials began and ended, one per line of two files: how many per second, and the gap from the end
of one to the start of the next."""

from __future__ import annotations

import json
import os
import statistics


def command(path: str, seconds: float) -> list[str]:
    """A trial that is a process: it writes down when it began, lasts for so long, and writes down when it ended."""
    path = os.path.abspath(path)
    lasting = f"; sleep {seconds:g}; date +%s.%N >> {path}.ends" if seconds else ""
    return ["sh", "-c", f"date +%s.%N >> {path}{lasting}"]


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
