"""A million names: how long the listing of a dataset takes, and what it needs in the memory of server and client.

The files are hard links to a few empty ones, so that making them does not take longer than listing them.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import psutil

from benchmarks import measure, notebooks
from benchmarks.measure import Failed, Measure, Outcome
from benchmarks.table import NOTHING, Table, durations, not_measured, rows
from benchmarks.venvs import NotInstalled, Say, variables

FOLDERS = 1_000
LINKS = 50_000  # to one file: ext4 allows 65,000
COLUMNS = ("names of a folder of this disk", "time", "memory", "memory of the server")

Found = tuple[float, int, int]


def run(quick: bool, say: Say) -> Table:
    count = 50_000 if quick else 1_000_000
    title = f"Listing {count:,} files"
    try:
        outcomes = _listings(count, 1 if quick else 2, say)
    except NotInstalled as error:
        return Table(title, COLUMNS, (not_measured("Runyard", str(error), len(COLUMNS)),))
    notes = (
        "Memory: the most of the process; of the server, what came on top while it listed. "
        "to_path gives names alone; a run asks for sizes, times and addresses too.",
    )
    return Table(title, COLUMNS, rows(outcomes, len(COLUMNS), _row), notes)


def _row(name: str, samples: list[Found]) -> tuple[str, ...]:
    times, memory, server_memory = zip(*samples, strict=True)
    there = f"+{max(server_memory) / 2**20:,.0f} MiB" if max(server_memory) else NOTHING
    return name, durations(times), f"{max(memory) / 2**20:,.0f} MiB", there


def _listings(count: int, rounds: int, say: Say) -> dict[str, Outcome[Found]]:
    with notebooks.opened("listing-benchmark-", say) as (folder, notebook):
        say(f"making {count:,} names")
        fill(folder / "names", count)
        notebook.ask("store", "names", "folder", {"path": str(folder / "names")}, {})
        server = psutil.Process(int(notebook.ask("server")["pid"]))

        def listed(facts: bool) -> Measure[Found]:
            def measured() -> Found:
                with peak(server) as most:
                    found = notebook.ask("list", "names", facts, timeout=280)
                _all(found["files"], count)
                return found["seconds"], int(found["memory"]), most[0]

            return measured

        contenders: dict[str, Measure[Found]] = {
            "`find` with sizes and times": lambda: _counted(
                count, ["find", str(folder / "names"), "-type", "f", "-printf", "%p %s %T@\\n"]
            ),
            "Runyard, dataset.to_path": listed(facts=False),
            "Runyard, what a run asks for": listed(facts=True),
        }
        if shutil.which("rclone"):
            for shown, what in (("p", "names alone"), ("pst", "with sizes and times")):
                command = ["rclone", "lsf", "-R", "--files-only", "--format", shown, str(folder / "names")]
                contenders[f"rclone lsf -R, {what}"] = partial(_counted, count, command)
        return measure.in_turn(contenders, rounds, say)


def fill(folder: Path, count: int) -> None:
    """So many names in a thousand folders."""
    originals = folder.with_name("originals")
    originals.mkdir()
    for number in range(FOLDERS):
        os.makedirs(folder / f"{number:03d}")
    for number in range(count):
        if number % LINKS == 0:
            original = str(originals / str(number))
            Path(original).touch()
        os.link(original, f"{folder}/{number % FOLDERS:03d}/{number:07d}.jpg")


@contextlib.contextmanager
def peak(process: psutil.Process) -> Iterator[list[int]]:
    """How much more memory a process needs at most, within the block; it is there when the block has ended."""
    before = process.memory_info().rss
    most, ended = [0], threading.Event()

    def watch() -> None:
        while not ended.wait(0.02):
            most[0] = max(most[0], process.memory_info().rss - before)

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield most
    finally:
        ended.set()
        watching.join()


def _counted(count: int, command: list[str]) -> Found:
    """Run a program that prints a line for each file."""
    begin = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=variables(RCLONE_CONFIG="/dev/null")) as process:
        assert process.stdout is not None
        most = lines = 0
        while block := process.stdout.read(1 << 20):
            lines += block.count(b"\n")
            with contextlib.suppress(psutil.NoSuchProcess):
                most = max(most, psutil.Process(process.pid).memory_info().rss)
    _all(lines, count)
    return time.perf_counter() - begin, most, 0


def _all(found: float, count: int) -> None:
    if found != count:
        raise Failed(f"{found:,.0f} of {count:,} names were listed")


if __name__ == "__main__":
    from benchmarks.table import text

    print(text(run("--quick" in sys.argv, lambda said: print(said, file=sys.stderr))))
