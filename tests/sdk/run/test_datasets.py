"""Paths of a run's datasets come from the environment: only those that are really there are offered."""

from __future__ import annotations

import pytest

from runyard.sdk.exceptions import UserErrorException
from runyard.sdk.run.datasets import InputDatasets, LinkOutput, OutputDatasets


def test_inputs_and_outputs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZUREML_DATASET_ENVIRONMENT_VARS", "mnist,absent,labels")
    monkeypatch.setenv("AZUREML_DATASET_FILE_OUTPUTS", "model:/x;")
    monkeypatch.setenv("mnist", "/data/mnist")
    monkeypatch.setenv("labels", "/data/labels")
    monkeypatch.setenv("model", "/outputs/model")
    inputs, outputs = InputDatasets(None), OutputDatasets(None)
    assert dict(inputs) == {"mnist": "/data/mnist", "labels": "/data/labels"}
    assert repr(inputs) == "{'mnist': '/data/mnist', 'labels': '/data/labels'}"
    assert (len(inputs), list(outputs), outputs["model"]) == (2, ["model"], "/outputs/model")
    with pytest.raises(KeyError, match="no dataset 'absent'; it has: mnist, labels"):
        inputs["absent"]


def test_a_run_without_datasets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AZUREML_DATASET_ENVIRONMENT_VARS", raising=False)
    assert dict(InputDatasets(None)) == {}
    with pytest.raises(KeyError, match="it has: none"):
        InputDatasets(None)["mnist"]


def test_linking_is_refused_with_what_to_do() -> None:
    with pytest.raises(UserErrorException, match=r"'model' cannot be linked.*OutputFileDatasetConfig"):
        LinkOutput(None, "model").link(None)  # type: ignore[arg-type]
