"""`runyard doctor`: looks for problems, and how to solve them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from runyard.cli import errors
from runyard.cli.checks.check import FAIL, OK
from runyard.cli.options import JsonOption
from runyard.cli.output import screen
from runyard.cli.output.terminal import style
from runyard.cli.parameters import Option, leave
from runyard.contracts import home as homes

COLOURS = {"ok": "green", "warn": "yellow", "fail": "red"}


def doctor(
    deep: Annotated[
        bool, Option("--deep", help="Read every file that runs have left, and see whether it is still whole.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Check this machine: Python, the home folder, the server, the database, engines, leftovers."""
    from runyard.cli.checks import machine_checks

    done = []
    width = max(map(len, COLOURS))
    for check in machine_checks.all_checks(homes.home(), deep):
        done.append(check)
        if as_json:
            continue
        verdict = f"{check.verdict:{width}}"
        print(f"{style(verdict, fg=COLOURS[check.verdict])}  {check.name}: {check.message}")
        if check.verdict != OK and check.help:
            print(f"{'':{width}}  {check.help}")
    if as_json:
        screen.document([asdict(check) for check in done])
    if any(check.verdict == FAIL for check in done):
        raise leave(errors.FAILED)
