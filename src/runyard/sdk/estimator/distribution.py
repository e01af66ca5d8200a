"""How an estimator describes a distributed job, and what of it goes into its run configuration.

An estimator takes a job (`distributed_training=Mpi(2)`) or, in older code, a name (`distributed_backend='mpi'`). Which
processes are started is decided from the run configuration, as for every other run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Sequence, Union

from runyard.sdk.exceptions import TrainingException
from runyard.sdk.submit.distributed import MpiConfiguration, PyTorchConfiguration, TensorflowConfiguration
from runyard.sdk.submit.script_run_config import distribute as distribute_script

if TYPE_CHECKING:
    from runyard.sdk.submit.runconfig import RunConfiguration

MPI, NCCL, GLOO, PARAMETER_SERVER = "mpi", "nccl", "gloo", "ps"
BACKENDS = (MPI, NCCL, GLOO, PARAMETER_SERVER)
"""The names that `distributed_backend` takes. Each estimator takes some of them."""


class _Job:
    """A kind of distributed job."""

    def validate(self) -> None:
        """Refuse what cannot be run."""

    def __repr__(self) -> str:
        settings = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({settings})"


class Mpi(_Job):
    """Processes under `mpirun`, `process_count_per_node` on each node."""

    def __init__(self, process_count_per_node: int = 1) -> None:
        self.process_count_per_node = process_count_per_node

    def validate(self) -> None:
        checked_count("process_count_per_node", self.process_count_per_node)


class Nccl(_Job):
    """Processes that meet through torch.distributed over nccl, which needs GPUs: one per node."""


class Gloo(_Job):
    """Processes that meet through torch.distributed over gloo: one per node."""


class ParameterServer(_Job):
    """TensorFlow's workers, one per node, and the parameter servers beside them."""

    def __init__(self, worker_count: int = 1, parameter_server_count: int = 1) -> None:
        self.worker_count = worker_count
        self.parameter_server_count = parameter_server_count

    def validate(self) -> None:
        checked_count("worker_count", self.worker_count)
        checked_count("parameter_server_count", self.parameter_server_count, least=0)


Job = Union[
    Mpi, Nccl, Gloo, ParameterServer, MpiConfiguration, PyTorchConfiguration, TensorflowConfiguration
]  # fmt: skip


def job_of_backend(
    backend: str, allowed: Sequence[str], process_count_per_node: int, worker_count: int, parameter_server_count: int
) -> Job:
    """The job for a name of `distributed_backend`."""
    name = str(backend).lower()
    if name not in allowed:
        raise TrainingException(
            f"{backend!r} is no distributed_backend of this estimator. Use one of: {', '.join(map(repr, allowed))}."
        )
    if name == MPI:
        return Mpi(process_count_per_node)
    if name == PARAMETER_SERVER:
        return ParameterServer(worker_count, parameter_server_count)
    return Nccl() if name == NCCL else Gloo()


def backend_of(job: object) -> str | None:
    """The name of a job; None for what is none."""
    if isinstance(job, (Mpi, MpiConfiguration)):
        return MPI
    if isinstance(job, (ParameterServer, TensorflowConfiguration)):
        return PARAMETER_SERVER
    if isinstance(job, PyTorchConfiguration):
        return str(job.communication_backend).lower()
    return NCCL if isinstance(job, Nccl) else GLOO if isinstance(job, Gloo) else None


def checked_job(job: object, allowed: Sequence[str]) -> None:
    """Refuse what is no job, or one of another framework."""
    if backend_of(job) not in allowed:
        names = {MPI: "Mpi, MpiConfiguration", NCCL: "Nccl", GLOO: "Gloo", PARAMETER_SERVER: "ParameterServer"}
        raise TrainingException(
            f"distributed_training must be an object of one of these classes, not {job!r}: "
            f"{', '.join(names[each] for each in allowed)}."
        )
    if isinstance(job, _Job):
        job.validate()


def distribute(run_config: RunConfiguration, job: Job | None, node_count: int, process_count_per_node: int) -> None:
    """Make a run configuration that of the job, on so many nodes."""
    if job is None:
        if node_count > 1 or process_count_per_node > 1:
            raise TrainingException(
                f"node_count={node_count} and process_count_per_node={process_count_per_node} make a distributed job, "
                "but nothing says how its processes find each other. Give distributed_training, such as "
                f"Mpi(process_count_per_node={process_count_per_node})."
            )
    elif isinstance(job, (Mpi, MpiConfiguration)):
        processes = _agreed("process_count_per_node", process_count_per_node, job.process_count_per_node)
        nodes = node_count if isinstance(job, Mpi) else _agreed("node_count", node_count, job.node_count)
        distribute_script(run_config, MpiConfiguration(processes, nodes))
        if isinstance(job, Mpi):
            run_config.framework, run_config.communicator = "python", "Mpi"
    elif isinstance(job, (ParameterServer, TensorflowConfiguration)):
        _parameter_servers(run_config, job, node_count, process_count_per_node)
    else:
        _pytorch(run_config, job, node_count, process_count_per_node)


def _pytorch(
    run_config: RunConfiguration, job: Nccl | Gloo | PyTorchConfiguration, node_count: int, process_count_per_node: int
) -> None:
    nodes, processes, backend = node_count, None, type(job).__name__
    if isinstance(job, PyTorchConfiguration):
        nodes, processes = _agreed("node_count", node_count, job.node_count), job.process_count
        backend = job.communication_backend
    if processes is None and process_count_per_node > 1:
        processes = nodes * process_count_per_node
    distribute_script(run_config, PyTorchConfiguration(backend, processes, nodes))
    if not isinstance(job, PyTorchConfiguration):
        run_config.framework, run_config.communicator = "pytorch", backend


def _parameter_servers(
    run_config: RunConfiguration,
    job: ParameterServer | TensorflowConfiguration,
    node_count: int,
    process_count_per_node: int,
) -> None:
    if process_count_per_node > 1:
        raise TrainingException(
            f"A TensorFlow job has one worker per node, so process_count_per_node={process_count_per_node} does not "
            "fit. Leave it out, and set node_count and worker_count to the number of workers."
        )
    distribute_script(run_config, TensorflowConfiguration(job.worker_count, job.parameter_server_count))
    if node_count > 1:
        run_config.node_count = node_count
    if isinstance(job, ParameterServer):
        run_config.framework = "tensorflow"


def _agreed(name: str, of_estimator: int, of_job: int) -> int:
    """A number that can be given in two places: 1 means that it was not."""
    if of_estimator != 1 and of_job not in (1, of_estimator):
        raise TrainingException(
            f"The estimator has {name}={of_estimator} and its distributed_training has {name}={of_job}. Give one."
        )
    return of_job if of_estimator == 1 else of_estimator


def checked_count(name: str, value: object, least: int = 1) -> int:
    """A count as a whole number; anything else is refused."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise TrainingException(f"{name} must be a whole number from {least} on, not {value!r}.")
    return value
