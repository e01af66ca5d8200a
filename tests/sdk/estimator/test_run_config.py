import doctest
from pathlib import Path
from typing import Any

import pytest

from runyard.sdk.compute.legacy import AbstractComputeTarget, LocalTarget
from runyard.sdk.data.data_reference import DataReference
from runyard.sdk.data.datapath import DataPath
from runyard.sdk.data.dataset_consumption import DatasetConsumptionConfig
from runyard.sdk.environment.container_registry import ContainerRegistry
from runyard.sdk.environment.environment import Environment
from runyard.sdk.environment.sections import DEFAULT_CPU_IMAGE, DEFAULT_GPU_IMAGE
from runyard.sdk.estimator import run_config
from runyard.sdk.estimator.distribution import Gloo, Mpi
from runyard.sdk.estimator.run_config import MMLBaseEstimatorRunConfig, Options
from runyard.sdk.exceptions import ComputeTargetException, TrainingException, UserErrorException
from runyard.sdk.submit.launch import launch_of
from runyard.sdk.submit.runconfig import RunConfiguration


def made(**options: Any) -> RunConfiguration:
    options.setdefault("compute_target", "local")
    config, _ = MMLBaseEstimatorRunConfig.of(Options(options.pop("source_directory", "."), **options))
    return config


def test_the_example_runs() -> None:
    result = doctest.testmod(run_config)
    assert result.attempted > 0
    assert result.failed == 0


def test_each_option_has_its_place() -> None:
    registry = ContainerRegistry("registry.example")
    config = made(
        compute_target="cpu-cluster",
        entry_script="train.py",
        script_params={"--lr": 0.1},
        node_count=2,
        distributed_training=Mpi(2),
        use_docker=True,
        custom_docker_image="registry.example/mine:1",
        image_registry_details=registry,
        conda_packages=["scipy"],
        pip_packages=["numpy"],
        environment_variables={"A": "1"},
        source_directory_data_store="store",
        shm_size="8g",
        max_run_duration_seconds=60,
    )
    assert isinstance(config, MMLBaseEstimatorRunConfig)
    assert (config.target, config.script, config.arguments) == ("cpu-cluster", "train.py", ["--lr", 0.1])
    assert (config.node_count, config.mpi.process_count_per_node, config.communicator) == (2, 2, "Mpi")
    assert (config.docker.use_docker, config.docker.shm_size) == (True, "8g")
    assert config.environment.docker.base_image == "registry.example/mine:1"
    assert config.environment.docker.base_image_registry is registry
    packages = config.environment.python.conda_dependencies
    assert packages.conda_packages[1:] == ["scipy"]
    assert packages.pip_packages == ["azureml-defaults", "numpy"]
    assert config.environment_variables == {"A": "1"}
    assert config.source_directory_data_store == "store"
    assert config.max_run_duration_seconds == 60


def test_nothing_told_is_the_python_that_is_there() -> None:
    config = made(entry_script="train.py")
    assert config.environment.is_untouched_default()
    assert config.environment.docker.base_image == DEFAULT_CPU_IMAGE
    assert config.docker.shm_size == "2g"
    assert launch_of(config, "local")["environment"]["user_managed"]


def test_a_gpu_takes_the_image_for_it() -> None:
    config = made(use_gpu=True)
    assert config.environment.docker.base_image == DEFAULT_GPU_IMAGE
    assert config.environment.docker.gpu_support is True


def test_a_python_of_ones_own() -> None:
    config = made(user_managed=True, custom_docker_base_image="mine:1")
    assert config.environment.python.user_managed_dependencies is True
    assert config.environment.docker.base_image == "mine:1"


def test_a_definition_says_all_about_the_environment() -> None:
    environment = Environment("mine")
    environment.python.user_managed_dependencies = True
    environment.docker._shm_size = "4g"
    config = made(environment_definition=environment, use_gpu=True)
    assert config.environment is environment
    assert environment.docker.base_image == DEFAULT_CPU_IMAGE
    assert config.docker.shm_size == "4g"
    assert made(environment_definition=environment, shm_size="1g").docker.shm_size == "1g"


def test_files_of_packages(tmp_path: Path) -> None:
    (tmp_path / "pip.txt").write_text("numpy==2\n")
    (tmp_path / "conda.yml").write_text("dependencies:\n- python=3.11\n- scipy\n")
    config = made(source_directory=str(tmp_path), pip_requirements_file="pip.txt", pip_packages=["numpy==1.0"])
    assert config.environment.python.conda_dependencies.pip_packages == ["azureml-defaults", "numpy==1.0,==2"]
    for name in ("conda_dependencies_file", "conda_dependencies_file_path"):
        config = made(source_directory=str(tmp_path), **{name: "conda.yml"})
        assert config.environment.python.conda_dependencies.conda_packages == ["python=3.11", "scipy"]
    with pytest.raises(FileNotFoundError, match=r"nowhere\.txt"):
        made(source_directory=str(tmp_path), pip_requirements_file_path="nowhere.txt")


def test_a_machine_for_this_run_alone() -> None:
    config = made(
        compute_target=None,
        vm_size="STANDARD_D2_V2",
        vm_priority="lowpriority",
        node_count=2,
        distributed_training=Mpi(),
    )
    assert config.target == "amlcompute"
    assert (config.amlcompute.vm_size, config.amlcompute.vm_priority) == ("STANDARD_D2_V2", "lowpriority")
    assert config.amlcompute.cluster_max_node_count == 2


def test_data_becomes_a_place_in_the_arguments() -> None:
    reference = DataReference("store", "images")
    dataset = DatasetConsumptionConfig("birds", ("ws", "birds"))
    config = made(
        entry_script="train.py",
        script_params={"--images": reference, "--birds": dataset},
        inputs=[DataReference("store", "more"), DatasetConsumptionConfig("cats", ("ws", "cats"))],
        resume_from=DataPath("store", "checkpoints"),
    )
    assert config.arguments == [
        *("--images", "$AZUREML_DATAREFERENCE_images", "--birds", "DatasetConsumptionConfig:birds"),
        *("--resume-from", "$AZUREML_DATAREFERENCE_MODEL_LOCATION"),
    ]
    assert set(config.data_references) == {"images", "more", "MODEL_LOCATION"}
    assert set(config.data) == {"birds", "cats"}
    assert launch_of(config, "local")["arguments"][3] == "$AZUREML_DATAREFERENCE_birds"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"compute_target": None}, "no compute target"),
        ({"node_count": 0}, "node_count must be a whole number from 1 on, not 0"),
        ({"process_count_per_node": 0}, "process_count_per_node must be"),
        ({"node_count": 2, "compute_target": "cpu-cluster"}, "Give distributed_training"),
        ({"process_count_per_node": 2}, "Give distributed_training"),
        ({"node_count": 2, "distributed_training": Mpi()}, "'local' is one machine"),
        ({"node_count": 2, "distributed_training": Mpi(), "compute_target": LocalTarget()}, "'local' is one machine"),
        ({"environment_definition": Environment("e"), "pip_packages": ["numpy"]}, "takes no pip_packages beside it"),
        ({"environment_definition": Environment("e"), "custom_docker_image": "mine"}, "takes no custom_docker_image"),
        ({"conda_dependencies_file": "c.yml", "conda_packages": ["numpy"]}, "takes no conda_packages beside it"),
        ({"use_docker": False, "custom_docker_image": "mine"}, "use_docker is False"),
        ({"distributed_backend": "smoke"}, "no distributed_backend"),
        ({"distributed_backend": "mpi", "distributed_training": Mpi()}, "not both"),
        ({"distributed_training": Gloo(), "jobs": ("mpi",)}, "must be an object of one of these classes"),
        ({"entry_script": "train.ipynb"}, "is a notebook"),
        ({"script_params": ["--lr", 1]}, "script_params is a dictionary"),
        ({"inputs": ["images"]}, "not 'images'"),
        ({"pip_packages": "numpy"}, "is a list"),
    ],
    ids=lambda value: "" if isinstance(value, str) else "-".join(value),
)
def test_what_does_not_go_together_is_refused(options: "dict[str, Any]", message: str) -> None:
    with pytest.raises(TrainingException, match=message):
        made(**options)


def test_packages_need_an_environment_that_is_built() -> None:
    with pytest.raises(UserErrorException, match="pip_packages cannot be installed"):
        made(user_managed=True, pip_packages=["numpy"])


def test_hdinsight_is_no_place_for_estimators() -> None:
    with pytest.raises(ComputeTargetException, match="HDInsight"):
        made(compute_target=AbstractComputeTarget("HDInsight", "spark"))


def test_many_nodes_on_a_cluster() -> None:
    target = AbstractComputeTarget("AmlCompute", "cpu-cluster")
    assert made(compute_target=target, node_count=2, distributed_training=Mpi()).node_count == 2
    assert made(compute_target="by-its-name", node_count=2, distributed_training=Mpi()).node_count == 2


def test_the_configuration_by_itself(tmp_path: Path) -> None:
    config = MMLBaseEstimatorRunConfig(
        "local", entry_script="train.py", distributed_backend="nccl", pip_packages=["numpy"], use_gpu=True
    )
    assert (config.target, config.script, config.communicator) == ("local", "train.py", "Nccl")
    config.save(str(tmp_path), "mine")
    assert RunConfiguration.load(str(tmp_path), "mine").script == "train.py"
