"""The kinds of jobs with many processes: MPI, PyTorch, TensorFlow, or plain. How they are started is not
decided here."""

from __future__ import annotations

from runyard.sdk.configuration import Configuration
from runyard.system.records import record


@record(repr=False)
class MpiConfiguration(Configuration):
    """Processes under `mpirun`: `process_count_per_node` on each of `node_count` nodes."""

    process_count_per_node: int = 1
    node_count: int = 1


@record(repr=False)
class PyTorchConfiguration(Configuration):
    """Processes that meet through torch.distributed, over nccl or gloo.

    `process_count` is the number of processes on all nodes together; None starts one process per node, which may start
    others itself (torch.distributed.launch).
    """

    communication_backend: str = "Nccl"
    process_count: int | None = None
    node_count: int = 1


@record(repr=False)
class TensorflowConfiguration(Configuration):
    """Processes that find each other through TF_CONFIG: workers, and parameter servers if any."""

    worker_count: int = 1
    parameter_server_count: int = 1


@record(repr=False)
class PlainConfiguration(Configuration):
    """Processes of no framework, which find their place in RANK, WORLD_SIZE and the like. SDK v1 has no such thing.

    `process_count_per_node` run on each of `node_count` nodes.
    """

    process_count_per_node: int = 1
    node_count: int = 1


@record(repr=False)
class ParallelTaskConfiguration(Configuration):
    """Workers that share a queue of tasks."""

    _open = True

    max_retries_per_worker: int = 0
    worker_count_per_node: int = 1
    terminal_exit_codes: list[int] | None = None
