"""Configuration code from the public how-to pages of SDK v1 (PyTorch, TensorFlow, training targets), word for word."""

from pathlib import Path
from typing import Any

import pytest
from tests.support.seeds import DISTRIBUTED_DATA_PARALLEL, GPU_IMAGE, PYTORCH_YAML, TENSORFLOW_YAML, TF_DISTRIBUTE


@pytest.fixture
def names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The names that the pages have set before the piece of code at hand."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "conda_dependencies.yml").write_text(PYTORCH_YAML)
    document: dict[str, Any] = {
        "project_folder": "./pytorch-birds",
        "source_dir": ".",
        "compute_target": "gpu-cluster",
        "my_compute_target": "local",
    }
    exec("from azureml.core import Environment\npytorch_env = tf_env = myenv = Environment('e')", document)
    return document


def test_a_custom_pytorch_environment(names: dict[str, Any]) -> None:
    exec(
        """
from azureml.core import Environment

pytorch_env = Environment.from_conda_specification(name='pytorch-1.6-gpu', file_path='./conda_dependencies.yml')

# Specify a GPU base image
pytorch_env.docker.enabled = True
pytorch_env.docker.base_image = 'mcr.microsoft.com/azureml/openmpi3.1.2-cuda10.1-cudnn7-ubuntu18.04'
""",
        names,
    )
    environment = names["pytorch_env"]
    assert environment.docker.enabled is True
    assert environment.docker.base_image == GPU_IMAGE
    assert environment.python.conda_dependencies.get_python_version() == "3.6.2"
    assert environment.python.conda_dependencies.pip_packages[1:] == [
        "torch==1.6.0",
        "torchvision==0.7.0",
        "future==0.17.1",
        "pillow",
    ]


def test_a_custom_tensorflow_environment(names: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "conda_dependencies.yml").write_text(TENSORFLOW_YAML)
    exec(
        """
tf_env = Environment.from_conda_specification(name='tensorflow-2.2-gpu', file_path='./conda_dependencies.yml')

# Specify a GPU base image
tf_env.docker.enabled = True
tf_env.docker.base_image = 'mcr.microsoft.com/azureml/openmpi3.1.2-cuda10.1-cudnn7-ubuntu18.04'
""",
        names,
    )
    assert "horovod==0.19.5" in names["tf_env"].python.conda_dependencies.pip_packages


def test_an_environment_on_disk_and_its_clone(names: dict[str, Any], tmp_path: Path) -> None:
    names["curated_env_name"] = "AzureML-PyTorch-1.6-GPU"
    exec("pytorch_env.save_to_directory(path=curated_env_name)", names)
    assert (tmp_path / "AzureML-PyTorch-1.6-GPU" / "conda_dependencies.yml").is_file()
    exec("pytorch_env = pytorch_env.clone(new_name='pytorch-1.6-gpu')", names)
    assert names["pytorch_env"].name == "pytorch-1.6-gpu"


def test_a_training_script(names: dict[str, Any]) -> None:
    exec(
        """
from azureml.core import ScriptRunConfig

src = ScriptRunConfig(source_directory=project_folder,
                      script='pytorch_train.py',
                      arguments=['--num_epochs', 30, '--output_dir', './outputs'],
                      compute_target=compute_target,
                      environment=pytorch_env)
""",
        names,
    )
    source = names["src"]
    assert source.arguments == ["--num_epochs", 30, "--output_dir", "./outputs"]
    assert source.run_config.target == "gpu-cluster"
    assert source.run_config.environment is names["pytorch_env"]


def test_horovod(names: dict[str, Any]) -> None:
    exec(
        """
from azureml.core import ScriptRunConfig
from azureml.core.runconfig import MpiConfiguration

src = ScriptRunConfig(source_directory=project_folder,
                      script='pytorch_horovod_mnist.py',
                      compute_target=compute_target,
                      environment=pytorch_env,
                      distributed_job_config=MpiConfiguration(node_count=2))
""",
        names,
    )
    run_config = names["src"].run_config
    assert (run_config.communicator, run_config.node_count) == ("IntelMpi", 2)
    assert run_config.mpi.process_count_per_node == 1


def test_distributed_data_parallel(names: dict[str, Any]) -> None:
    exec(DISTRIBUTED_DATA_PARALLEL, names)
    run_config = names["src"].run_config
    assert (run_config.framework, run_config.communicator, run_config.node_count) == ("PyTorch", "nccl", 2)
    assert names["src"].arguments == names["args"]


def test_tf_distribute(names: dict[str, Any]) -> None:
    exec(TF_DISTRIBUTE, names)
    run_config = names["src"].run_config
    assert (run_config.framework, run_config.node_count) == ("TensorFlow", 2)
    assert run_config.tensorflow.parameter_server_count == 0


def test_a_user_managed_environment(names: dict[str, Any]) -> None:
    exec(
        """
from azureml.core import Environment

myenv = Environment("user-managed-env")
myenv.python.user_managed_dependencies = True

# You can choose a specific Python environment by pointing to a Python path 
# myenv.python.interpreter_path = '/home/johndoe/miniconda3/envs/myenv/bin/python'
""",  # noqa: W291
        names,
    )
    assert names["myenv"].python.user_managed_dependencies


def test_a_run_on_this_machine(names: dict[str, Any]) -> None:
    exec("from azureml.core import ScriptRunConfig\nscript_run_config = ScriptRunConfig('.')", names)
    exec(
        """
from azureml.core import ScriptRunConfig

src = ScriptRunConfig(source_directory=project_folder,
                      script='train.py',
                      compute_target=my_compute_target,
                      environment=myenv)

# Set compute target
# Skip this if you are running on your local computer
script_run_config.run_config.target = my_compute_target
""",
        names,
    )
    assert names["script_run_config"].run_config.target == "local"
    assert names["src"].run_config.target == "local"


def test_the_resources_of_a_model(names: dict[str, Any]) -> None:
    exec(
        """
from azureml.core.resource_configuration import ResourceConfiguration
resource_configuration=ResourceConfiguration(cpu=1, memory_in_gb=0.5)
""",
        names,
    )
    assert names["resource_configuration"].memory_in_gb == 0.5


def test_the_exception_that_the_pages_catch() -> None:
    document: dict[str, Any] = {}
    exec("from azureml.core.compute_target import ComputeTargetException", document)
    exec("from azureml.exceptions import ComputeTargetException as same", document)
    assert document["ComputeTargetException"] is document["same"]
