"""From a run configuration to `runyard.contracts.distribution`: how many nodes and processes, of which kind."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from runyard.contracts.distribution import MPI, PLAIN, PYTORCH, TENSORFLOW, BadDistribution, Distribution
from runyard.sdk.exceptions import RunConfigurationException, UserErrorException

if TYPE_CHECKING:
    from runyard.sdk.submit.runconfig import RunConfiguration

KINDS = {
    "": PLAIN,
    "none": PLAIN,
    "mpi": MPI,
    "openmpi": MPI,
    "intelmpi": MPI,
    "nccl": PYTORCH,
    "gloo": PYTORCH,
    "parameterserver": TENSORFLOW,
}
"""By communicator, in lower case: files and estimators write Nccl, OpenMpi, None."""


def distribution_of(run_config: RunConfiguration) -> Distribution:
    """The checked distribution of a run. What cannot be run is refused with advice."""
    communicator = str(run_config.communicator or "").lower()
    if communicator not in KINDS:
        raise RunConfigurationException(_unknown(run_config.communicator))
    kind = KINDS[communicator]
    if kind == MPI:
        made = _mpi(run_config)
    elif kind == PYTORCH:
        made = _pytorch(run_config, communicator)
    elif kind == TENSORFLOW:
        made = _tensorflow(run_config)
    else:
        made = _plain(run_config)
    try:
        made.check()
    except BadDistribution as problem:
        raise UserErrorException(str(problem), inner_exception=problem) from None
    return made


def _plain(run_config: RunConfiguration) -> Distribution:
    nodes = _whole("node_count", run_config.node_count)
    each = run_config.runyard.process_count_per_node
    return Distribution(nodes=nodes, processes=0 if each is None else nodes * _per_node(each))


def _mpi(run_config: RunConfiguration) -> Distribution:
    nodes = _nodes(run_config, "mpi", run_config.mpi.node_count)
    return Distribution(MPI, nodes, nodes * _per_node(run_config.mpi.process_count_per_node))


def _pytorch(run_config: RunConfiguration, backend: str) -> Distribution:
    nodes = _nodes(run_config, "pytorch", run_config.pytorch.node_count)
    count = run_config.pytorch.process_count
    processes = 0 if count is None else _whole("process_count", count)
    if count is not None and processes < 1:
        raise UserErrorException(
            f"process_count is the number of processes on all nodes together, so 1 or more, not {processes}. Leave it "
            "out to start one process per node."
        )
    return Distribution(PYTORCH, nodes, processes, backend)


def _tensorflow(run_config: RunConfiguration) -> Distribution:
    section = run_config.tensorflow
    workers = _whole("worker_count", section.worker_count)
    nodes = _whole("node_count", run_config.node_count)
    return Distribution(
        TENSORFLOW,
        nodes=workers if nodes == 1 and workers > 0 else nodes,  # 1: what nobody has set
        workers=workers,
        parameter_servers=_whole("parameter_server_count", section.parameter_server_count),
    )


def _nodes(run_config: RunConfiguration, section: str, of_section: object) -> int:
    """The number of nodes, which a run configuration has in two places: 1 means that it was not set."""
    nodes, others = _whole("node_count", run_config.node_count), _whole(f"{section}.node_count", of_section)
    if others == 1 or nodes == others:
        return nodes
    if nodes == 1:
        return others
    raise UserErrorException(
        f"The run configuration has node_count={nodes} and {section}.node_count={others}. Set both to the number of "
        "nodes that the run is to have."
    )


def _per_node(count: object) -> int:
    number = _whole("process_count_per_node", count)
    if number < 1:
        raise UserErrorException(f"process_count_per_node must be 1 or more, not {number}.")
    return number


def _whole(name: str, value: object) -> int:
    try:
        if isinstance(value, bool):
            raise TypeError
        return operator.index(value)  # type: ignore[arg-type]  # what has no index raises
    except TypeError:
        raise UserErrorException(f"{name} must be a whole number, not {value!r}.") from None


def _unknown(communicator: object) -> str:
    if str(communicator).lower() == "paralleltask":
        return "This version of Runyard does not run parallel tasks. Use MPI, PyTorch or TensorFlow, or one process."
    return (
        f"{communicator!r} is no communicator. Use one of: None, OpenMpi, IntelMpi, nccl, gloo, ParameterServer; or "
        "give distributed_job_config, which sets it."
    )
