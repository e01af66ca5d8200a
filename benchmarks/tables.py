"""A table of CSV to a DataFrame: `to_pandas_dataframe`'s engine beside `pandas.read_csv` and pyarrow, in one run.

`rows(quick)` is what `benchmarks.data` shows; `python -m benchmarks.tables` prints it. The file is made of numbers,
texts, dates and gaps; types are inferred as a dataset infers them, and its time is part of ours. Each reader has a
process of its own, so that memory is what it needed; the file is in the page cache for all of them.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

GIGABYTE = 1_000_000_000
ROUNDS = 3
READERS = ("Runyard", "pyarrow + to_pandas", "pandas.read_csv")


def rows(
    quick: bool = False, python: str = sys.executable, environment: Mapping[str, str] | None = None
) -> list[tuple[str, float, float, int]]:
    """Reader, seconds, seconds of CPU, and the most memory in bytes: the quickest of a few rounds each. `python` has
    pandas and pyarrow."""
    from benchmarks.measure import Failed, last_words  # not in the readers' environment

    size = GIGABYTE // 20 if quick else GIGABYTE
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        make(path, size)
        found: dict[str, list[tuple[float, float, int]]] = {name: [] for name in READERS}
        for _ in range(1 if quick else ROUNDS):
            for name in READERS:
                done = subprocess.run(
                    [python, "-m", "benchmarks.tables", name, str(path)],
                    capture_output=True,
                    text=True,
                    env=environment,
                )
                if done.returncode:
                    raise Failed(last_words(done.stderr))
                seconds, cpu, memory = json.loads(done.stdout)
                found[name].append((seconds, cpu, memory))
    return [(name, *min(found[name])) for name in READERS]


def make(path: Path, size: int) -> None:
    """A file of about so many bytes."""
    lines = "".join(
        f"{number},{number * 7919 % 100_003},{number / 7:.6f},{'' if number % 11 == 0 else number % 97},"
        f"item {number % 5_000},2020-{number % 12 + 1:02}-{number % 28 + 1:02}T{number % 24:02}:00:00,"
        f"{'true' if number % 3 else 'false'}\n"
        for number in range(20_000)
    )
    with path.open("w") as file:
        file.write("id,code,value,gap,name,at,flag\n")
        for _ in range(max(1, size // len(lines))):
            file.write(lines)


def read(name: str, path: str) -> int:
    """Read the file with a reader; returns how many rows there are."""
    if name == "Runyard":
        from runyard.sdk.tables.engines.base import chosen_engine
        from runyard.sdk.tables.files import TableFile
        from runyard.sdk.tables.reading import Table

        settings = {"format": "delimited", "separator": ",", "header": "same", "encoding": "utf8"}
        table = Table({"read": settings, "steps": []}, lambda: [TableFile(Path(path), path)], chosen_engine())
        return len(table.engine.frame(table.batches(whole=True), "null"))
    if name == "pandas.read_csv":
        import pandas

        return len(pandas.read_csv(path, parse_dates=["at"]))
    from pyarrow import csv

    return len(csv.read_csv(path).to_pandas(self_destruct=True))


def main(arguments: list[str]) -> None:
    if len(arguments) < 2:
        for name, seconds, cpu, memory in rows("--quick" in arguments):
            print(f"{name:24} {seconds:6.2f} s   {cpu:6.2f} s CPU   {memory / 1e9:5.2f} GB")
        return
    begin = time.perf_counter()
    read(*arguments)
    took = time.perf_counter() - begin
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps([took, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024]), flush=True)
    os._exit(0)  # a large frame takes long to let go of, which is nobody's reading


if __name__ == "__main__":
    main(sys.argv[1:])
