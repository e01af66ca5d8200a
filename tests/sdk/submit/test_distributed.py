from runyard.sdk.submit.distributed import (
    MpiConfiguration,
    ParallelTaskConfiguration,
    PyTorchConfiguration,
    TensorflowConfiguration,
)


def test_defaults() -> None:
    assert MpiConfiguration().to_dict() == {"processCountPerNode": 1, "nodeCount": 1}
    assert PyTorchConfiguration().to_dict() == {"communicationBackend": "Nccl", "processCount": None, "nodeCount": 1}
    assert TensorflowConfiguration().to_dict() == {"workerCount": 1, "parameterServerCount": 1}


def test_positional_arguments_are_those_of_sdk_v1() -> None:
    assert MpiConfiguration(4, 2) == MpiConfiguration(process_count_per_node=4, node_count=2)
    assert PyTorchConfiguration("Gloo", 4, 2) == PyTorchConfiguration("Gloo", process_count=4, node_count=2)
    assert TensorflowConfiguration(2, 0) == TensorflowConfiguration(worker_count=2, parameter_server_count=0)


def test_parallel_task_configuration_is_open() -> None:
    task = ParallelTaskConfiguration()
    task.something_new = 1  # type: ignore[attr-defined]
    assert task.max_retries_per_worker == 0
