"""Data for runs: how much longer a run takes to start with it, how fast it comes from a server, is read and listed.

The parts are tables of their own: the start of a run with files of this disk (here), transfers and lazy mounts
(`benchmarks.transfers`), tables out of files (`benchmarks.tables`), and names in a listing (`benchmarks.listing`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks import listing, measure, notebooks, tables, transfers, venvs
from benchmarks.measure import Failed, Measure, Outcome
from benchmarks.submitting import Pipe
from benchmarks.table import NOTHING, Table, durations, not_measured, overhead, rows
from benchmarks.venvs import CHECKOUT, NotInstalled, Say, variables

READERS = ("pandas==3.0.5", "pyarrow==26.0.1")
FOLDERS = 100
COLUMNS = ("submit → the script's first line", "time", "over no data")
BARE = "no data"
VERY_FIRST = "mounted, the first run of all"
FIRST = "mounted, the first run after a change"
LATER = "mounted, a later run"


def run(quick: bool, say: Say) -> list[Table]:
    return [started(quick, say), *transfers.run(quick, say), read(quick, say), listing.run(quick, say)]


def started(quick: bool, say: Say) -> Table:
    """The start of a run that mounts a folder of this disk."""
    files, size = (1_000, 10_000) if quick else (10_000, 100_000)
    title = f"Starting a script with {files:,} files, {files * size / 1e9:g} GB, on this disk"
    try:
        outcomes = _starts(files, size, 2 if quick else 7, say)
    except NotInstalled as error:
        return Table(title, COLUMNS, (not_measured("Runyard", str(error), len(COLUMNS)),))

    def row(name: str, samples: list[float]) -> tuple[str, ...]:
        return name, durations(samples), NOTHING if name == BARE else overhead(samples, outcomes[BARE].samples)

    how = "root, so that the folder is shown as it is: for other users links are made by the first run of all"
    notes = (
        "Before the first run of all the machine has no links to any file. Before the first run after a change a file "
        "gets another name, so that nothing is known of the folder as it is now. "
        f"The node runner is {how if os.geteuid() == 0 else 'not root, so that links are made'}.",
    )
    return Table(title, COLUMNS, rows(outcomes, len(COLUMNS), row), notes)


def _starts(files: int, size: int, rounds: int, say: Say) -> dict[str, Outcome[float]]:
    with notebooks.opened("data-benchmark-", say) as (folder, notebook):
        say(f"writing {files:,} files")
        data = folder / "data"
        fill(data, files, size)
        notebook.ask("store", "disk", "folder", {"path": str(data)}, {})

        def start(name: str = "", before: Callable[[], object] = lambda: None) -> Measure[float]:
            def measured() -> float:
                before()
                with Pipe() as pipe:
                    submitted = notebook.ask("submit", pipe.path, *([name] if name else []))["at"]
                    began = pipe.read()
                    notebook.ask("wait")
                return float(began - submitted)

            return measured

        def rename() -> None:
            os.rename(next((data / "00").iterdir()), data / "00" / f"{os.urandom(4).hex()}.bin")

        contenders = {
            BARE: start(),
            VERY_FIRST: start("disk", lambda: notebook.ask("unlink")),
            FIRST: start("disk", rename),
            LATER: start("disk"),
        }
        measure.in_turn(contenders, 1, lambda said: None)
        return measure.in_turn(contenders, rounds, say)


def read(quick: bool, say: Say) -> Table:
    """`to_pandas_dataframe` of a large file of CSV, beside others who make a DataFrame of it."""
    columns = ("CSV to a DataFrame", "time", "CPU", "memory")
    title = f"Reading {'50 MB' if quick else '1 GB'} of CSV"
    try:
        environment = venvs.peers(READERS, say)
        say("reading CSV")
        more = variables(PYTHONPATH=f"{CHECKOUT}:{CHECKOUT / 'src'}")
        found = tables.rows(quick, environment.python, more)
    except (NotInstalled, Failed) as error:
        return Table(title, columns, (not_measured("Runyard", str(error), len(columns)),))
    shown = [
        (name, f"{seconds:.2f} s", f"{cpu:.2f} s", f"{memory / 2**30:.1f} GiB") for name, seconds, cpu, memory in found
    ]
    with_versions = f"pandas {environment.version('pandas')}, pyarrow {environment.version('pyarrow')}."
    return Table(title, columns, tuple(shown), (f"The quickest of three rounds. {with_versions}",))


def fill(folder: Path, files: int, size: int) -> None:
    """A folder of files in a hundred folders, no two of them alike."""
    body = os.urandom(size)
    for number in range(FOLDERS):
        (folder / f"{number:02d}").mkdir(parents=True)
    for number in range(files):
        place = folder / f"{number % FOLDERS:02d}" / f"{number:05d}.bin"
        place.write_bytes(number.to_bytes(8, "big") + body[8:])


if __name__ == "__main__":
    from benchmarks.__main__ import main

    main(["data", *sys.argv[1:]])
