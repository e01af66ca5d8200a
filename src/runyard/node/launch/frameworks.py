"""The variables by which a process learns its place in a distributed run: those of PyTorch, of TensorFlow, of SDK v1.

What is the same for all processes of a run is in `variables`; what mpirun itself sets for its ranks is not set again,
and what depends on a rank that only mpirun gives out is in `runyard.node.mpi.ranks`.
"""

from __future__ import annotations

import json
import os
from typing import Mapping

from runyard.contracts.distribution import MPI, PARAMETER_SERVER, TENSORFLOW, Distribution, Rank
from runyard.contracts.journal import RANK_VARIABLE
from runyard.contracts.plan import Plan
from runyard.node.launch import gpus, interfaces
from runyard.node.launch.meeting import Meeting, ports_wanted

__all__ = ["node_variables", "ports_wanted", "rank_variables"]

THREADS, GPUS = "OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES"
HOROVOD_ADDRESS = "RUNYARD_HOROVOD_ADDRESS"  # where the layer's ranks meet: not where a script's own group does


def rank_variables(plan: Plan, rank: Rank, meeting: Meeting, variables: Mapping[str, str]) -> dict[str, str]:
    """What one process sees on top of `variables`, those of every process of its node. To be called on that node: its
    cores and GPUs are shared out among its processes. What the user has set is left as it is."""
    distribution = plan.distribution
    if not distribution.gang:
        return {}
    own = {**_of_node(plan, rank.node, meeting, variables), **_of_rank(distribution, rank)}
    if distribution.kind == TENSORFLOW:
        own["TF_CONFIG"] = _tf_config(distribution, rank, meeting)
    own.update(_share(distribution, rank, variables))
    return _without_the_users(own, plan)


def node_variables(plan: Plan, node: int, meeting: Meeting, variables: Mapping[str, str]) -> dict[str, str]:
    """What all processes of one node see; for those that another program starts, which ranks them."""
    return _without_the_users(_of_node(plan, node, meeting, variables), plan)


def _of_node(plan: Plan, node: int, meeting: Meeting, variables: Mapping[str, str]) -> dict[str, str]:
    distribution = plan.distribution
    own = {
        "AZUREML_CR_NODE_RANK": str(node),
        "AZUREML_NODE_COUNT": str(distribution.nodes),
        **_master(distribution, meeting),
    }
    if distribution.kind == TENSORFLOW:
        return own
    own["MASTER_ADDR"] = meeting.addresses[0]
    own["MASTER_PORT"] = str(meeting.port)
    own["NODE_RANK"] = str(node)
    own["WORLD_SIZE"] = str(distribution.processes or distribution.nodes)
    own["AZ_BATCHAI_PYTORCH_INIT_METHOD"] = _init_method(plan, meeting, variables)
    if distribution.kind == MPI:
        own[HOROVOD_ADDRESS] = _endpoint(meeting.addresses[0], meeting.ports.get("0", meeting.port))
    own.update(
        {name: value for name, value in _interfaces(distribution, meeting, node).items() if name not in variables}
    )
    return own


def _master(distribution: Distribution, meeting: Meeting) -> dict[str, str]:
    """Node 0, as code that was written for SDK v1 takes it apart: at the colon where there are several nodes, not at
    all where there is one, whose name is how such code sees that it is the only one."""
    if distribution.nodes == 1:
        return {"AZ_BATCHAI_MPI_MASTER_NODE": "localhost"}
    address = meeting.addresses[0]
    return {"AZ_BATCH_MASTER_NODE": f"{meeting.names[0] if ':' in address else address}:{meeting.port}"}


def _of_rank(distribution: Distribution, rank: Rank) -> dict[str, str]:
    own = {"AZ_BATCHAI_TASK_TYPE": rank.role, "AZ_BATCHAI_TASK_INDEX": str(rank.index)}
    own[RANK_VARIABLE] = str(rank.rank)
    if distribution.kind != TENSORFLOW and not distribution.per_node:
        own["RANK"] = str(rank.rank)
        own["LOCAL_RANK"] = str(rank.local_rank)
        own["LOCAL_WORLD_SIZE"] = str((distribution.processes or distribution.nodes) // distribution.nodes)
    if distribution.kind == MPI:  # started without mpirun, which sets them itself
        own["OMPI_COMM_WORLD_RANK"], own["OMPI_COMM_WORLD_LOCAL_RANK"] = own["RANK"], own["LOCAL_RANK"]
        own["OMPI_COMM_WORLD_SIZE"] = str(distribution.processes or distribution.nodes)
        own["OMPI_COMM_WORLD_LOCAL_SIZE"] = own["LOCAL_WORLD_SIZE"]
    return own


def _init_method(plan: Plan, meeting: Meeting, variables: Mapping[str, str]) -> str:
    """A file that no other attempt has used, where all nodes see one; else a port beside MASTER_PORT, which a script
    that uses both would otherwise listen on twice."""
    shared = meeting.shared
    if shared is None and plan.distribution.nodes == 1:
        shared = variables.get("AZ_BATCHAI_JOB_TEMP")
    if shared is not None:
        return f"file://{os.path.join(shared, f'init_method_{plan.attempt}')}"
    return f"tcp://{_endpoint(meeting.addresses[0], meeting.ports.get('0', meeting.port))}"


def _interfaces(distribution: Distribution, meeting: Meeting, node: int) -> dict[str, str]:
    """Gloo takes the address that the machine's name stands for, which on many is one that no other can reach. NCCL's
    is set for every MPI job, as by SDK v1: code reads it before it sets its own. What a site has set is right."""
    own = {}
    if distribution.kind == MPI:
        own["NCCL_SOCKET_IFNAME"] = interfaces.loopback() if meeting.on_loopback else "^docker0,lo"
    found = None if distribution.nodes == 1 or meeting.on_loopback else interfaces.of_address(meeting.addresses[node])
    if found is not None:
        own["GLOO_SOCKET_IFNAME"] = found
    return own


def _tf_config(distribution: Distribution, rank: Rank, meeting: Meeting) -> str:
    cluster: dict[str, list[str]] = {}
    for each in distribution.ranks():
        place = _endpoint(meeting.addresses[each.node], meeting.ports[str(each.rank)])
        cluster.setdefault(each.role, []).append(place)
    return json.dumps({"cluster": cluster, "task": {"type": rank.role, "index": rank.index}})


def _endpoint(address: str, port: int) -> str:
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def _share(distribution: Distribution, rank: Rank, variables: Mapping[str, str]) -> dict[str, str]:
    """A process's part of the cores and GPUs of its node, where it is not alone there."""
    beside = [each for each in distribution.ranks() if each.node == rank.node]
    if len(beside) == 1:
        return {}
    own = {}
    if THREADS not in variables:
        own[THREADS] = str(threads(len(beside)))
    visible = gpus.visible(variables)
    if visible:
        eager = [each.rank for each in beside if each.role != PARAMETER_SERVER]
        mine = gpus.share(visible, eager.index(rank.rank), len(eager)) if rank.rank in eager else ["-1"]
        own[GPUS] = ",".join(mine)
    return own


def threads(processes: int) -> int:
    """How many threads each of some processes of this node may use."""
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:  # not on Linux
        cores = os.cpu_count() or 1
    return max(1, cores // processes)


def _without_the_users(own: dict[str, str], plan: Plan) -> dict[str, str]:
    return {name: value for name, value in own.items() if name not in plan.launch.environment_variables}
