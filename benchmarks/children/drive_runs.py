"""Let simulated runs live (`benchmarks.live.simulated_runs`), in a process of their own.

drive_runs.py URL SETTLE SECONDS KIND     stdin: a line ["run id", "token"] for each run, as soon as it is made

Each run lives from its line on: thousands that wait for the last of them would count as lost. What is measured begins
SETTLE seconds after the end of stdin, when every run has had its turn, and ends at SIGINT, or after SECONDS.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import sys

from benchmarks.live.simulated_runs import Driven, Simulation


async def drive(url: str, settle: float, seconds: float, silent: bool) -> Driven:
    simulation, loop = Simulation(url, silent), asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        await simulation.begin(*json.loads(line))
    await asyncio.sleep(settle)
    simulation.driven.latencies.clear()
    simulation.driven.round_trips.clear()
    over = asyncio.Event()
    loop.add_signal_handler(signal.SIGINT, over.set)
    with contextlib.suppress(asyncio.TimeoutError):
        await asyncio.wait_for(over.wait(), seconds)
    simulation.close()
    return simulation.driven


def main(url: str, settle: str, seconds: str, kind: str) -> None:
    driven = asyncio.run(drive(url, float(settle), float(seconds), kind == "silent"))
    said = {"latencies": driven.latencies, "round_trips": driven.round_trips}
    print(json.dumps({**said, "errors": len(driven.errors), "first": driven.errors[:3]}))


if __name__ == "__main__":
    main(*sys.argv[1:])
