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

from runyard.contracts.history import rank_log
from runyard.contracts.journal import RANK_VARIABLE
from runyard.contracts.plan import Plan
from runyard.node.launch import frameworks, gpus
from runyard.node.launch.meeting import Meeting
from runyard.node.mpi.files import own_files
from runyard.node.mpi.flavours import OPENMPI, Mpi
from runyard.node.mpi.settings import IDENTITY, NAMED, settings

SHELL = "/bin/sh"
PREFIX = "RUNYARD_MPI_PREFIX"  # where MPI is installed on a node

PROGRAM = [SHELL, "-c", 'eval "$RUNYARD_RANK"']
"""What mpirun starts as each rank. The rest is set on the node, where paths may differ from those on node 0."""

_RANK, _FOLDER, _WORK, _GPUS = "RUNYARD_RANK", "RUNYARD_NODE_FOLDER", "RUNYARD_WORK_FOLDER", "RUNYARD_GPUS"
_TEMPORARY = "RUNYARD_TMPDIR"  # for the program's temporary files; MPI has a folder of its own
_REFERENCE = re.compile(r"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})", re.ASCII)
_EXIT = re.compile(r"rank_(\d+)\.exit")

# Foreground, so that the program does not inherit ignored signals; the shell outlives it to write down its end.
_RUN = f"""
trap : TERM INT HUP
"$@" >>"$runyard_streams/{rank_log("$runyard_rank")}" 2>&1 </dev/null
runyard_code=$?
echo "$runyard_code" >"$runyard_streams/rank_$runyard_rank.exit"
exit "$runyard_code"
"""


def node_environment(
    plan: Plan, mpi: Mpi, node: int, meeting: Meeting, variables: Mapping[str, str], folder: Path, argv: Sequence[str]
) -> dict[str, str]:
    """The variables of what MPI starts on one node: mpirun itself on node 0, its daemon on another. To be called on
    that node, with the variables of its processes (PWD is their working folder), its run folder, and the program
    that is the run's there, without the script's arguments."""
    path = os.pathsep.join((mpi.folder, variables.get("PATH", os.defpath)))
    own = {
        **variables,
        **frameworks.node_variables(plan, node, meeting, variables),
        _FOLDER: str(folder),
        _WORK: variables.get("PWD") or str(folder / "work"),
        _RANK: _text(plan, mpi, argv),
        _TEMPORARY: variables.get("TMPDIR", ""),
        "TMPDIR": own_files(folder),
        PREFIX: mpi.prefix,
        "PATH": path,
        "HOME": variables.get("HOME") or os.path.expanduser("~"),
    }
    if not mpi.at_home and "LD_LIBRARY_PATH" not in plan.launch.environment_variables:
        libraries = os.path.join(mpi.prefix, "lib")
        own["LD_LIBRARY_PATH"] = os.pathsep.join(filter(None, (libraries, variables.get("LD_LIBRARY_PATH"))))
    own.update(settings(mpi, node, meeting, agent_of(folder), variables))
    own.update(_shares(plan, variables))
    return own


def agent_of(folder: Path) -> str:
    """The path of the agent that `runyard.node.mpi.agents` puts into the run's folder on node 0."""
    return os.path.realpath(folder / "mpi" / "agent")


def exits(folder: Path) -> dict[int, int]:
    """How the ranks of a node have ended so far, the first to end first. More than 128: by that signal, plus 128."""
    found = []
    for file in (folder / "streams").glob("rank_*.exit"):
        match = _EXIT.fullmatch(file.name)
        code = file.read_text("ascii").strip()
        if match is not None and code:  # else it is being written
            found.append((file.stat().st_mtime_ns, int(match[1]), int(code)))
    return {rank: code for _, rank, code in sorted(found)}


def _text(plan: Plan, mpi: Mpi, argv: Sequence[str]) -> str:
    arguments = plan.launch.arguments if plan.launch.command is None else []
    quoted = [*map(shlex.quote, argv), *map(_quoted, arguments)]
    return "\n".join((*_place(plan, mpi), f"set -- {' '.join(quoted)}")) + _RUN


def _place(plan: Plan, mpi: Mpi) -> list[str]:
    """The lines that set the place of the rank. The user's own variables are left as they are."""
    distribution = plan.distribution
    size = distribution.processes or distribution.nodes
    theirs = plan.launch.environment_variables
    rank, local = ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK")
    if mpi.flavour != OPENMPI:
        rank, local = "PMI_RANK", "MPI_LOCALRANKID"
    own = {
        RANK_VARIABLE: "$runyard_rank",
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
    exported = [f"{name}={value}" for name, value in own.items() if name not in theirs]
    return [
        f"runyard_rank=${rank} runyard_local=${local}",
        f"runyard_streams=${_FOLDER}/streams runyard_gpus=${_GPUS}",
        f'cd "${_WORK}" || exit 1',
        f'TMPDIR=${_TEMPORARY}; [ -n "$TMPDIR" ] || unset TMPDIR',
        f"unset {_RANK} {_FOLDER} {_WORK} {_GPUS} {_TEMPORARY} {PREFIX}",
        f'[ -z "${IDENTITY}" ] || unset {IDENTITY} {" ".join(NAMED)}',
        f"export {' '.join(exported)}",
        'runyard_share() { shift "$runyard_local"; export CUDA_VISIBLE_DEVICES="$1"; }',
        '[ -z "$runyard_gpus" ] || runyard_share $runyard_gpus',
    ]


def _quoted(argument: str) -> str:
    """Quoted for the shell, with the values of variables in place. One that is not set stays as it is."""
    parts, end = [], 0
    for match in _REFERENCE.finditer(argument):
        name = match[1] or match[2]
        as_it_is = f"\\${name}" if match[1] else f"\\${{{name}\\}}"
        parts += [shlex.quote(argument[end : match.start()]), f'"${{{name}-{as_it_is}}}"']
        end = match.end()
    return "".join((*parts, shlex.quote(argument[end:])))


def _shares(plan: Plan, variables: Mapping[str, str]) -> dict[str, str]:
    """Each rank's part of the cores and GPUs of this node, where there are several."""
    distribution = plan.distribution
    beside = (distribution.processes or distribution.nodes) // distribution.nodes
    own = {}
    if beside > 1 and frameworks.THREADS not in variables:
        own[frameworks.THREADS] = str(frameworks.threads(beside))
    if beside > 1 and frameworks.GPUS not in plan.launch.environment_variables:
        visible = gpus.visible(variables)
        if visible:
            own[_GPUS] = " ".join(",".join(gpus.share(visible, place, beside)) for place in range(beside))
    return own
