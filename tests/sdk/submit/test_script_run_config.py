import warnings
from typing import Any

import pytest

from runyard.sdk.compute.legacy import LocalTarget
from runyard.sdk.data.configuration import DataPath as DataPathSection
from runyard.sdk.data.configuration import DataReferenceConfiguration
from runyard.sdk.data.data_reference import DataReference
from runyard.sdk.data.datapath import DataPath
from runyard.sdk.environment.environment import Environment
from runyard.sdk.exceptions import RunConfigurationException, UserErrorException
from runyard.sdk.submit.distributed import MpiConfiguration, PyTorchConfiguration, TensorflowConfiguration
from runyard.sdk.submit.runconfig import DockerConfiguration, RunConfiguration
from runyard.sdk.submit.script_run_config import ScriptRunConfig, get_run_config_from_script_run


def test_defaults() -> None:
    config = ScriptRunConfig("nowhere")  # the folder is looked at when it is submitted
    assert config.run_config.target == "local"
    assert config.run_config.environment.name == "default-environment"
    assert config.run_config.node_count == 1
    assert (config.run_config.framework, config.run_config.communicator) == ("Python", "None")
    assert config.run_config.max_run_duration_seconds == 2592000 == ScriptRunConfig.MAX_DURATION_SECONDS_DEFAULT
    assert config.arguments == []


def test_script_and_command_together_raise_nothing_here() -> None:
    config = ScriptRunConfig(".", script="a.py", command=["python", "b.py"])
    assert (config.script, config.command) == ("a.py", ["python", "b.py"])


def test_arguments_are_a_list() -> None:
    with pytest.raises(UserErrorException, match="not the text"):
        ScriptRunConfig(".", "a.py", "--lr 0.1")  # type: ignore[arg-type]
    with pytest.raises(UserErrorException, match="not a dict"):
        ScriptRunConfig(".", "a.py", {"--lr": 0.1})  # type: ignore[arg-type]


def test_the_parameters_reach_the_run_configuration() -> None:
    environment, docker = Environment("e"), DockerConfiguration(use_docker=True)
    config = ScriptRunConfig(
        ".",
        "a.py",
        compute_target=LocalTarget(),
        environment=environment,
        max_run_duration_seconds=60,
        docker_runtime_config=docker,
    )
    assert config.run_config.environment is environment
    assert config.run_config.docker is docker
    assert config.run_config.max_run_duration_seconds == 60


def test_a_given_run_configuration_rules_with_a_warning() -> None:
    given = RunConfiguration("own.py", ["own"])
    given.target = "elsewhere"
    with pytest.warns(UserWarning, match="not used, because run_config is given") as seen:
        config = ScriptRunConfig(
            ".",
            run_config=given,
            compute_target="local",
            environment=Environment("e"),
            distributed_job_config=MpiConfiguration(node_count=2),
            max_run_duration_seconds=60,
            docker_runtime_config=DockerConfiguration(True),
        )
    warning = seen.pop(UserWarning)
    for name in (
        "compute_target",
        "environment",
        "distributed_job_config",
        "max_run_duration_seconds",
        "docker_runtime_config",
    ):
        assert name in str(warning.message)
    assert warning.filename == __file__
    assert config.run_config is given
    assert (given.target, given.node_count, given.max_run_duration_seconds) == ("elsewhere", 1, None)
    assert (config.script, config.arguments) == ("own.py", ["own"])


def test_script_arguments_and_command_win_over_a_given_run_configuration() -> None:
    given = RunConfiguration("own.py", ["own"], command="own")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        config = ScriptRunConfig(".", "a.py", ["mine"], run_config=given, command="mine")
    assert (config.script, config.arguments, config.command) == ("a.py", ["mine"], "mine")


@pytest.mark.parametrize(
    ("job", "wanted"),
    [
        (MpiConfiguration(2, 3), {"framework": "Python", "communicator": "IntelMpi", "node_count": 3}),
        (PyTorchConfiguration("Nccl", 8, 2), {"framework": "PyTorch", "communicator": "nccl", "node_count": 2}),
        (PyTorchConfiguration("GLOO"), {"framework": "PyTorch", "communicator": "gloo", "node_count": 1}),
        (
            TensorflowConfiguration(2, 1),
            {"framework": "TensorFlow", "communicator": "ParameterServer", "node_count": 2},
        ),
    ],
)
def test_distributed_jobs(job: Any, wanted: dict[str, Any]) -> None:
    run_config = ScriptRunConfig(".", "a.py", distributed_job_config=job).run_config
    assert {name: getattr(run_config, name) for name in wanted} == wanted
    assert job in (run_config.mpi, run_config.pytorch, run_config.tensorflow)


@pytest.mark.parametrize("job", [PyTorchConfiguration("mpi"), "Mpi", DockerConfiguration()])
def test_other_jobs_are_refused(job: Any) -> None:
    with pytest.raises(RunConfigurationException, match=r"nccl, gloo|MpiConfiguration"):
        ScriptRunConfig(".", "a.py", distributed_job_config=job)


def test_resuming_adds_the_reference_and_the_argument() -> None:
    arguments = ["--lr", 0.1]
    config = ScriptRunConfig(".", "a.py", arguments, resume_from=DataPath("files", "models/1"))
    assert config.arguments == ["--lr", 0.1, "--resume-from", "$AZUREML_DATAREFERENCE_MODEL_LOCATION"]
    assert config.run_config.data_references == {
        "MODEL_LOCATION": DataReferenceConfiguration("files", "mount", "models/1")
    }
    assert arguments == ["--lr", 0.1]


@pytest.mark.parametrize("path", ["models/1", DataPathSection("files", "models/1")])
def test_resuming_needs_a_datapath(path: Any) -> None:
    with pytest.raises(UserErrorException, match="DataPath"):
        ScriptRunConfig(".", "a.py", resume_from=path)


def test_docker_is_a_docker_configuration_or_nothing() -> None:
    assert ScriptRunConfig(".", docker_runtime_config={}).run_config.docker == DockerConfiguration()  # type: ignore[arg-type]
    with pytest.raises(UserErrorException, match="DockerConfiguration"):
        ScriptRunConfig(".", docker_runtime_config={"use_docker": True})  # type: ignore[arg-type]


def test_docker_is_taken_from_the_environment_when_nothing_else_tells() -> None:
    environment = Environment("e")
    with pytest.warns(DeprecationWarning, match="DockerConfiguration"):
        environment.docker.enabled = True
    with pytest.warns(DeprecationWarning, match="DockerConfiguration"):
        environment.docker.shm_size = "8g"
    docker = ScriptRunConfig(".", environment=environment).run_config.docker
    assert docker == DockerConfiguration(use_docker=True, shm_size="8g")


def test_what_is_submitted_is_a_whole_copy() -> None:
    config = ScriptRunConfig(".", "a.py", ["--data", DataReference("files", "images", "train").as_download()])
    config.script = "b.py"
    made = get_run_config_from_script_run(config)
    assert made.script == "b.py"
    assert made.arguments == ["--data", "$AZUREML_DATAREFERENCE_images"]
    assert made.data_references == {"images": DataReferenceConfiguration("files", "download", "train")}
    assert config.run_config.data_references == {}
    made.environment.python.interpreter_path = "/other"
    assert config.run_config.environment.python.interpreter_path == "python"


@pytest.mark.parametrize(
    ("command", "joined"), [(["python", "a.py", 3], "python a.py 3"), ("python a.py", "python a.py"), (None, None)]
)
def test_a_command_list_is_joined_with_blanks(command: Any, joined: Any) -> None:
    assert get_run_config_from_script_run(ScriptRunConfig(".", command=command)).command == joined
