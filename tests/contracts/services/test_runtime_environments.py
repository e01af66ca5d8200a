"""If these fail, a model without code gets an environment that cannot load it, or none."""

from __future__ import annotations

import pytest

from runyard.contracts.environment import specification_of
from runyard.contracts.services.runtime_environments import RUNTIMES, runtime_environment


def packages(framework: str, version: str | None = None, gpu: bool = False) -> tuple[str, ...]:
    found = runtime_environment(framework, version, gpu)
    assert found is not None
    assert found.note
    return specification_of(found.definition).pip


@pytest.mark.parametrize("framework", RUNTIMES)
def test_each_framework_gets_its_own_package_and_numpy(framework: str) -> None:
    assert "numpy" in packages(framework, "2.0")


def test_a_pickle_is_read_by_what_wrote_it_where_that_can_be_had() -> None:
    assert packages("ScikitLearn", "1.5")[0] == "scikit-learn==1.5.*"
    assert packages("ScikitLearn", "1.5.2")[0] == "scikit-learn==1.5.2"
    assert packages("ScikitLearn", "0.19.1")[0] == "scikit-learn"
    assert packages("ScikitLearn")[0] == "scikit-learn"
    old = runtime_environment("ScikitLearn", "0.19.1")
    assert old is not None
    assert "save it again" in old.note


def test_the_others_read_what_older_releases_wrote() -> None:
    assert packages("Onnx", "1.6")[0] == "onnxruntime"
    assert packages("PyTorch", "1.0")[0] == "torch"
    assert packages("TensorFlow", "2.0")[0].startswith("tensorflow-cpu")
    assert packages("TensorFlow", "2.0", gpu=True)[0] == "tensorflow"
    assert packages("Onnx", None, gpu=True)[0] == "onnxruntime-gpu"


def test_what_has_no_runtime_has_no_environment() -> None:
    assert runtime_environment("Custom") is None
    assert runtime_environment("Multi") is None
