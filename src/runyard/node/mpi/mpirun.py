"""The command by which node 0 starts the ranks of a run, for each MPI."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Mapping, Sequence

from runyard.contracts.plan import Plan
from runyard.node.launch.meeting import Meeting
from runyard.node.mpi.flavours import INTEL, OPENMPI, Mpi
from runyard.node.mpi.ranks import PROGRAM, agent_of, node_environment
from runyard.node.mpi.settings import host_of


def command(
    mpi: Mpi, plan: Plan, meeting: Meeting, argv: Sequence[str], variables: Mapping[str, str], folder: Path
) -> tuple[list[str], dict[str, str]]:
    """What node 0 starts in place of the ranks, and its variables. `argv` is the program of the run without the
    script's arguments, which are added rank by rank; `variables` are those of a process of node 0."""
    distribution = plan.distribution
    ranks = distribution.processes or distribution.nodes
    others = [host_of(node) for node in range(1, distribution.nodes)]
    options = _open_mpi if mpi.flavour == OPENMPI else _hydra
    start = options(mpi, meeting, others, ranks // distribution.nodes, agent_of(folder))
    # Found on the PATH, as on the other nodes: by its full path it would ask for the same path there.
    name = os.path.basename(mpi.program)
    environment = node_environment(plan, mpi, 0, meeting, variables, folder, argv)
    return [name, *start, "-np", str(ranks), *PROGRAM], environment


def _open_mpi(mpi: Mpi, meeting: Meeting, others: Sequence[str], each: int, agent: str) -> list[str]:
    # Version 4 takes ranks of two nodes on mpirun's own machine for neighbours if it knows one by the machine's name.
    first = host_of(0) if mpi.major < 5 and meeting.names.count(meeting.names[0]) > 1 else "localhost"
    hosts = [f"{host}:{each}" for host in (first, *others)]
    options = ["--host", ",".join(hosts), "--bind-to", "none"]
    if mpi.major < 5:
        return [*options, "--map-by", "slot", "--oversubscribe"]
    return [*options, "--map-by", "slot:OVERSUBSCRIBE", "--leave-session-attached"]


def _hydra(mpi: Mpi, meeting: Meeting, others: Sequence[str], each: int, agent: str) -> list[str]:
    """MPICH's launcher, which is Intel's too. The variables of node 0 are not for other nodes: each has its own."""
    first = meeting.addresses[0]
    # Each rank goes to the working folder of its node by itself: node 0's may not be there, and would be insisted on.
    options = ["-rmk", "user", "-localhost", first, "-genvnone", "-wdir", "/"]
    if mpi.flavour == INTEL:
        hosts = ",".join((first, *others))
        return [*options, "-bootstrap", "ssh", "-bootstrap-exec", agent, "-hosts", hosts, "-ppn", str(each)]
    hosts = ",".join(f"{host}:{each}" for host in (first, *others))
    options += ["-launcher", "ssh", "-launcher-exec", agent, "-hosts", hosts]
    return [*options, "-disable-hostname-propagation", "-bind-to", "none"]
