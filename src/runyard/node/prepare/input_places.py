"""Where an input of a run lies on its node: in the run's folder, or at the path that the user chose, and never over
somebody's files or where a name leads out of the working folder.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Mapping

from runyard.contracts import names
from runyard.contracts.plan import Plan, run_of_folder
from runyard.node.problem import RunProblem

INPUTS = "inputs"
NOT_THERE = "DataNotAvailable"


def place_of(plan: Plan, folder: Path, work: Path, each: Mapping[str, Any], contained: bool) -> Path:
    """The folder of an input, which is empty or not there yet."""
    own = folder / INPUTS / str(each["name"])
    wanted = each.get("path_on_compute")
    if not wanted:
        return own
    if not str(wanted).startswith("/"):
        try:
            return work / names.check_file(str(wanted))
        except names.BadName:
            raise RunProblem(
                NOT_THERE,
                f"The path_on_compute {wanted!r} of the input {each['name']!r} is not absolute, and leaves the "
                "working folder.",
                "Use a whole path such as /data, or one without '..': it begins in the working folder.",
            ) from None
    if contained:
        raise RunProblem(
            NOT_THERE,
            f"This version of Runyard does not do a path_on_compute such as {wanted!r} in a container yet.",
            "Use a relative path, or none: the script gets it as an argument or a variable.",
        )
    return Path(os.path.normpath(str(wanted)))


def inside(folder: Path, each: Mapping[str, Any], place: Path) -> Path:
    """Where the files of an input are in the run's folder: nothing but a link is left outside of it."""
    return place if folder in place.parents else folder / INPUTS / str(each["name"])


def must_be_empty(place: Path, each: Mapping[str, Any], plan: Plan) -> None:
    if place.is_symlink():
        target = Path(os.readlink(place))
        if not target.exists() or plan.run_id in {run_of_folder(part) for part in target.parts}:
            return  # left by a run that has ended, or by a node of this one
    elif not place.exists() or (place.is_dir() and not any(place.iterdir())):
        return
    raise RunProblem(
        "DataPathTaken",
        f"The path_on_compute {str(place)!r} of the input {each['name']!r} is not empty, or another run uses it.",
        "Use another path, or none: the script gets it as an argument or a variable.",
    )


def lead(place: Path, at: Path) -> None:
    """Let a path outside the run's folder lead to an input. Nothing but a link is left there when the run has ended."""
    os.makedirs(place.parent, exist_ok=True)
    if place.is_symlink():
        place.unlink()
    elif place.exists():
        place.rmdir()
    os.symlink(at, place)
