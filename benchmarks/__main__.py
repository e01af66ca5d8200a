"""`python -m benchmarks`: all benchmarks, or the named ones, and their tables."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from datetime import date
from functools import partial

from benchmarks import table, venvs

NAMES = (
    "logging",
    "start",
    "gang",
    "queue",
    "sweep",
    "horovod",
    "snapshot",
    "environments",
    "points",
    "server",
    "scale",
    "serving",
    "data",
    "mlflow",
    "studio",
)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure Runyard beside its peers.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of {', '.join(NAMES)}; all when none is given")
    parser.add_argument("--quick", action="store_true", help="fewer rounds and smaller amounts, to see that all works")
    parser.add_argument("--readme", action="store_true", help="put the tables into README.md")
    asked = parser.parse_args(argv)
    unknown = [name for name in asked.names if name not in NAMES]
    if unknown:
        parser.error(f"there is no benchmark {unknown[0]!r}: choose from {', '.join(NAMES)}")
    if asked.readme and asked.quick:
        parser.error("the README shows full runs: leave out --quick")
    tables: list[table.Table] = []
    for name in dict.fromkeys(asked.names or NAMES):
        results = importlib.import_module(f"benchmarks.{name}").run(asked.quick, partial(say, name))
        for result in results:
            print(f"\n{table.text(result)}\n", flush=True)
        tables += results
    if asked.readme:
        table.fill(venvs.CHECKOUT / "README.md", tables, date.today(), table.machine())
        say("readme", "the tables are in README.md")


def say(name: str, said: str) -> None:
    print(f"{name}: {said}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
