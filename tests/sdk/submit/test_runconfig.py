import json
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runyard.sdk.compute.legacy import LocalTarget
from runyard.sdk.data.configuration import Data, DataLocation, DataReferenceConfiguration, Dataset
from runyard.sdk.environment.conda_dependencies import CondaDependencies
from runyard.sdk.environment.environment import Environment
from runyard.sdk.submit.distributed import MpiConfiguration, PyTorchConfiguration, TensorflowConfiguration
from runyard.sdk.submit.runconfig import (
    DockerConfiguration,
    HistoryConfiguration,
    KubernetesComputeConfiguration,
    RunConfiguration,
)


def test_defaults() -> None:
    configuration = RunConfiguration()
    assert configuration.target == "local"
    assert configuration.environment.name == "default-environment"
    assert configuration.node_count == 1
    assert (configuration.framework, configuration.communicator) == ("Python", "None")
    assert configuration.history == HistoryConfiguration(True, True, ["logs"])
    assert configuration.docker == DockerConfiguration(use_docker=False, shm_size="2g", shared_volumes=True)


def test_the_constructor_fills_in() -> None:
    packages = CondaDependencies.create(pip_packages=["torch"])
    configuration = RunConfiguration("a.py", ["--x", 1], "PyTorch", "nccl", packages)
    assert configuration.environment.python.conda_dependencies is packages
    assert (configuration.script, configuration.arguments) == ("a.py", ["--x", 1])
    assert (configuration.framework, configuration.communicator) == ("PyTorch", "nccl")
    assert RunConfiguration(command="python a.py").command == "python a.py"


def test_every_section_refuses_unknown_attributes() -> None:
    configuration = RunConfiguration()
    for each in (configuration, configuration.history, configuration.docker, configuration.spark, configuration.mpi):
        with pytest.raises(AttributeError):
            each.nobody_declared_this = 1  # type: ignore[union-attr]
    KubernetesComputeConfiguration().anything = 1  # type: ignore[attr-defined]


def test_the_target_takes_a_name_or_a_target() -> None:
    configuration = RunConfiguration()
    configuration.target = "gpu-cluster"
    assert configuration.target == "gpu-cluster"
    configuration.target = LocalTarget()
    assert configuration.target == "local"
    with pytest.warns(UserWarning, match="stays 'local'") as seen:
        configuration.target = 3  # type: ignore[assignment]
    assert seen.pop(UserWarning).filename == __file__
    assert configuration.target == "local"


def test_preparing_is_deprecated() -> None:
    configuration = RunConfiguration()
    with pytest.warns(DeprecationWarning, match="changes nothing"):
        configuration.auto_prepare_environment = False
    assert configuration.auto_prepare_environment is False


def test_two_configurations_share_nothing() -> None:
    one, other = RunConfiguration(), RunConfiguration()
    one.arguments.append("x")
    one.environment_variables["A"] = "1"
    one.history.directories_to_watch.append("x")
    assert other == RunConfiguration()


def test_the_definition_is_camel_case_json() -> None:
    configuration = RunConfiguration("train.py", ["--lr", 0.1])
    configuration.max_run_duration_seconds = 60
    definition = json.loads(json.dumps(configuration.to_dict()))
    assert definition["maxRunDurationSeconds"] == 60
    assert definition["arguments"] == ["--lr", 0.1]
    assert definition["history"]["directoriesToWatch"] == ["logs"]
    assert definition["environment"]["python"]["userManagedDependencies"] is False
    assert definition["environment"]["python"]["condaDependencies"]["channels"] == ["anaconda", "conda-forge"]


def test_snake_case_is_read_too() -> None:
    read = RunConfiguration.from_dict({"node_count": 2, "data_references": {"a": {"data_store_name": "files"}}})
    assert read.node_count == 2
    assert read.data_references == {"a": DataReferenceConfiguration("files")}


text = st.text(max_size=8)
texts = st.dictionaries(text, text, max_size=3)
counts = st.integers(1, 1000)


@st.composite
def run_configurations(draw: Any) -> RunConfiguration:
    made = RunConfiguration(
        draw(st.none() | text),
        draw(st.lists(text | st.integers() | st.floats(allow_nan=False) | st.booleans(), max_size=4)),
        draw(st.sampled_from(["Python", "PySpark", "CNTK", "TensorFlow", "PyTorch"])),
        draw(st.sampled_from(["None", "ParameterServer", "OpenMpi", "IntelMpi", "nccl"])),
        draw(st.none() | st.builds(lambda p: CondaDependencies.create(pip_packages=p), st.lists(st.just("torch")))),
        draw(st.none() | text | st.lists(text, max_size=3)),
    )
    made.target = draw(text)
    made.node_count = draw(counts)
    made.max_run_duration_seconds = draw(st.none() | counts)
    made.environment_variables = draw(texts)
    made.environment.python.user_managed_dependencies = draw(st.booleans())
    made.environment.version = draw(st.none() | text)
    made.history = draw(st.builds(HistoryConfiguration, st.booleans(), st.booleans(), st.lists(text, max_size=3)))
    made.docker = draw(st.builds(DockerConfiguration, st.booleans(), st.booleans(), st.lists(text, max_size=3), text))
    made.mpi = draw(st.builds(MpiConfiguration, counts, counts))
    made.pytorch = draw(st.builds(PyTorchConfiguration, text, st.none() | counts, counts))
    made.tensorflow = draw(st.builds(TensorflowConfiguration, counts, counts))
    made.data = draw(
        st.dictionaries(
            text, st.builds(Data, st.none() | st.builds(DataLocation, st.builds(Dataset, text))), max_size=2
        )
    )
    made.data_references = draw(
        st.dictionaries(
            text,
            st.builds(DataReferenceConfiguration, text, st.sampled_from(["mount", "download", "upload"])),
            max_size=2,
        )
    )
    if draw(st.booleans()):
        made.environment = Environment.from_dockerfile("e", "FROM ubuntu")
    return made


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(run_configurations())
def test_round_trip(configuration: RunConfiguration) -> None:
    definition = json.loads(json.dumps(configuration.to_dict()))
    assert RunConfiguration.from_dict(definition) == configuration


def test_every_field_is_in_the_definition() -> None:
    assert len(RunConfiguration().to_dict()) == len(fields(RunConfiguration))
