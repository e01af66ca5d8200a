"""A rank under mpirun: the shell around the user's program, and what it reads and leaves on its node.

mpirun alone knows which rank a process is, so what depends on the rank is set here, by the shell: the variables that
other launchers would set, `$NAME` in the script's arguments, the rank's part of the GPUs, its log.
"""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path
from typing import Mapping, Sequence

from runyard.contracts.plan import Plan
from runyard.node import frameworks, gpus
from runyard.node.meeting import Meeting
from runyard.node.mpi.find import OPENMPI, Mpi

SHELL = "/bin/sh"
PREFIX = "RUNYARD_MPI_PREFIX"  # where MPI is installed on a node

_FOLDER, _WORK, _PROGRAM, _GPUS = (
    "RUNYARD_NODE_FOLDER",
    "RUNYARD_WORK_FOLDER",
    "RUNYARD_PROGRAM",
    "RUNYARD_GPUS",
)
_REFERENCE = re.compile(r"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})", re.ASCII)
_EXIT = re.compile(r"rank_(\d+)\.exit")

# Foreground, so that the program does not inherit ignored signals; the shell outlives it to write down its end.
_RUN = """
trap : TERM INT HUP
"$@" >>"$runyard_streams/std_log_process_$runyard_rank.txt" 2>&1 </dev/null
runyard_code=$?
echo "$runyard_code" >"$runyard_streams/rank_$runyard_rank.exit"
exit "$runyard_code"
"""


def node_environment(
    plan: Plan, mpi: Mpi, node: int, meeting: Meeting, variables: Mapping[str, str], folder: Path, argv: Sequence[str]
) -> dict[str, str]:
    """The variables of what MPI starts on one node: mpirun itself on node 0, its daemon on another. To be asked on
    that node, with the variables of its processes (PWD is their working folder), its run folder, and the program
    that is the run's there."""
    path = os.pathsep.join((mpi.folder, variables.get("PATH", os.defpath)))
    told = {
        **variables,
        **frameworks.node_variables(plan, node, meeting, variables),
        _FOLDER: str(folder),
        _WORK: variables.get("PWD") or str(folder / "work"),
        _PROGRAM: argv[0],
        PREFIX: mpi.prefix,
        "PATH": path,
        "HOME": variables.get("HOME") or os.path.expanduser("~"),
    }
    if mpi.prefix not in ("/usr", "/usr/local") and "LD_LIBRARY_PATH" not in plan.launch.environment_variables:
        libraries = os.path.join(mpi.prefix, "lib")
        told["LD_LIBRARY_PATH"] = os.pathsep.join(filter(None, (libraries, variables.get("LD_LIBRARY_PATH"))))
    told.update(_shares(plan, variables))
    return told


def program(plan: Plan, mpi: Mpi, argv: Sequence[str]) -> list[str]:
    """What mpirun starts as each rank: `argv` with the script's arguments, in the shell around it."""
    words, given = ['"$runyard_program"'], []
    for argument in [*argv[1:], *(plan.launch.arguments if plan.launch.command is None else [])]:
        if _REFERENCE.search(argument):
            words.append(_quoted(argument))
        else:
            given.append(argument)
            words.append(f'"${{{len(given)}}}"')
    text = "\n".join((*_place(plan, mpi), f"set -- {' '.join(words)}")) + _RUN
    return [SHELL, "-c", text, "rank", *given]


def exits(folder: Path) -> dict[int, int]:
    """How the ranks of a node have ended so far, the first to end first. More than 128: by that signal, plus 128."""
    found = []
    for file in (folder / "streams").glob("rank_*.exit"):
        match = _EXIT.fullmatch(file.name)
        code = file.read_text("ascii").strip()
        if match is not None and code:  # else it is being written
            found.append((file.stat().st_mtime_ns, int(match[1]), int(code)))
    return {rank: code for _, rank, code in sorted(found)}


def _place(plan: Plan, mpi: Mpi) -> list[str]:
    """The lines that tell the rank its place. The user's own variables are left as they are."""
    distribution = plan.distribution
    size = distribution.processes or distribution.nodes
    theirs = plan.launch.environment_variables
    rank, local = ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK")
    if mpi.flavour != OPENMPI:
        rank, local = "PMI_RANK", "MPI_LOCALRANKID"
    told = {
        "RANK": "$runyard_rank",
        "LOCAL_RANK": "$runyard_local",
        "WORLD_SIZE": str(size),
        "LOCAL_WORLD_SIZE": str(size // distribution.nodes),
        "AZ_BATCHAI_TASK_INDEX": "$runyard_rank",
        "OMPI_COMM_WORLD_RANK": "$runyard_rank",
        "OMPI_COMM_WORLD_LOCAL_RANK": "$runyard_local",
        "OMPI_COMM_WORLD_SIZE": str(size),
        "OMPI_COMM_WORLD_LOCAL_SIZE": str(size // distribution.nodes),
    }
    exported = [f"{name}={value}" for name, value in told.items() if name not in theirs]
    return [
        f"runyard_rank=${rank} runyard_local=${local}",
        f"runyard_streams=${_FOLDER}/streams runyard_program=${_PROGRAM} runyard_gpus=${_GPUS}",
        f'cd "${_WORK}" || exit 1',
        f"unset {_FOLDER} {_WORK} {_PROGRAM} {_GPUS} {PREFIX}",
        f"export {' '.join(exported)}",
        'runyard_share() { shift "$runyard_local"; export CUDA_VISIBLE_DEVICES="$1"; }',
        '[ -z "$runyard_gpus" ] || runyard_share $runyard_gpus',
    ]


def _quoted(argument: str) -> str:
    """As a word of the shell, with the values of variables in place. One that is not set stays as it is.

    >>> _quoted("--rank=$RANK")
    '--rank="${RANK-\\\\$RANK}"'
    """
    parts, end = [], 0
    for match in _REFERENCE.finditer(argument):
        parts.append(argument[end : match.start()])
        name = match[1] or match[2]
        parts.append(f'"${{{name}-\\{match[0]}}}"' if match[1] else f'"${{{name}-\\${{{name}\\}}}}"')
        end = match.end()
    parts.append(argument[end:])
    return "".join(part if place % 2 else (shlex.quote(part) if part else "") for place, part in enumerate(parts))


def _shares(plan: Plan, variables: Mapping[str, str]) -> dict[str, str]:
    """Each rank's part of the cores and GPUs of this node, where there are several."""
    distribution = plan.distribution
    beside = (distribution.processes or distribution.nodes) // distribution.nodes
    told = {}
    if beside > 1 and frameworks.THREADS not in variables:
        told[frameworks.THREADS] = str(frameworks.threads(beside))
    if beside > 1 and frameworks.GPUS not in plan.launch.environment_variables:
        visible = gpus.visible(variables)
        if visible:
            told[_GPUS] = " ".join(",".join(gpus.share(visible, place, beside)) for place in range(beside))
    return told
