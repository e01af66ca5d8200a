"""Packages in whose place a layer of Runyard stands where they cannot be had as a wheel: Horovod.

Its last release is a source package that no framework of today builds with. A specification that lists it would fail
after minutes of compiling, so the line is left out, and the node runner puts `runyard.compat` in reach of the script.
Where an index has a wheel of it, that is installed. A workspace may insist on the real one.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Mapping

from runyard.contracts.environment import HOROVOD, pip_name

if TYPE_CHECKING:
    from runyard.environments.uv.command import Uv

INSIST = "runyard config set environments.horovod require"


def left_out(uv: Uv, python: Path, folder: Path, lines: Mapping[str, str]) -> list[str]:
    """The lines of a specification in whose place a layer stands; `lines` has what uv is given for each."""
    from runyard.environments.uv.command import OutOfPatience

    named = [line for line, wanted in lines.items() if pip_name(wanted) == HOROVOD]
    if not named or uv.order.real_horovod:
        return []
    try:
        wheel = uv.resolve(python, [lines[line] for line in named], folder, "--no-deps", f"--only-binary={HOROVOD}")
    except OutOfPatience:
        return named
    if wheel.ok:
        return []
    for line in named:
        uv.order.report(f"{line} is left out: no wheel of it can be had. {in_its_place()}")
    return named


def in_its_place() -> str:
    """What a run gets instead, and how to insist."""
    return f"Runyard's layer with Horovod's interface is in its place; to insist on Horovod itself: {INSIST}"
