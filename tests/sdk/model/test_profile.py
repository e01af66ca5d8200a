"""A profile measures real services, recommends one of their sizes, and leaves none behind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runyard.sdk.data.dataset import Dataset
from runyard.sdk.exceptions import UserErrorException, WebserviceException
from runyard.sdk.model import measuring
from runyard.sdk.model.inference_config import InferenceConfig
from runyard.sdk.model.model import Model
from runyard.sdk.model.profile import requests_in
from runyard.sdk.tables.tabular_dataset import TabularDataset
from runyard.sdk.workspace.workspace import Workspace

DETAILS = (
    *("name", "state", "requestedCpu", "maxUtilizedMemoryInGB", "totalQueries", "successQueries", "successRate"),
    *("averageLatencyInMs", "measuredQueriesPerSecond", "recommendedCpu", "recommendedMemoryInGB"),
    *(f"latencyPercentile{percent}InMs" for percent in ("50", "90", "95", "99", "999")),
)


def dataset(workspace: Workspace, text: str) -> TabularDataset:
    Path("requests").mkdir(exist_ok=True)
    Path("requests/rows.csv").write_text(text)
    store = workspace.get_default_datastore()
    store.upload("requests", target_path="profile-requests", overwrite=True, show_progress=False)
    return Dataset.Tabular.from_delimited_files((store, "profile-requests/rows.csv"), separator=";")


@pytest.fixture
def config(tmp_path: Path) -> InferenceConfig:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "score.py").write_text(
        "import json\ndef init(): pass\ndef run(data): return 1 / len(json.loads(data)['data'])\n"
    )
    return InferenceConfig("score.py", source_directory=str(tmp_path / "src"))


def test_sizes_are_measured_and_one_is_recommended(
    workspace: Workspace, config: InferenceConfig, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(measuring, "LEAST_REQUESTS", 40)
    rows = dataset(workspace, 'request\n{"data": [1]}\n{"data": [1, 2]}\n')
    profile = Model.profile(workspace, "birds-profile", [], config, rows, cpu=2, memory_in_gb=0.5)
    profile.wait_for_completion(show_output=True)
    details = profile.get_details()
    assert set(DETAILS) <= details.keys()
    assert [each["cpu"] for each in details["sizes"]] == [1, 2]
    assert details["successRate"] == 100.0
    assert details["recommendedCpu"] in (1.0, 2.0)
    assert details["recommendedMemoryInGB"] >= 0.1
    assert "requests per second, p50" in capsys.readouterr().out
    assert profile.serialize()["state"] == "Succeeded"
    assert "<td>" in profile._repr_html_()
    assert not [name for name in workspace.webservices if name.startswith("profile-")]


def test_a_service_that_answers_nothing(workspace: Workspace, config: InferenceConfig) -> None:
    rows = dataset(workspace, 'request\n{"data": []}\n')
    profile = Model.profile(workspace, "birds-failing", [], config, rows, cpu=1)
    with pytest.raises(WebserviceException, match="No request of the dataset was answered"):
        profile.wait_for_completion()
    assert profile.get_details()["error"]["code"] == "WebserviceException"
    assert not [name for name in workspace.webservices if name.startswith("profile-")]


@pytest.mark.parametrize(
    ("text", "message"),
    [("a;b\n1;2\n", "has the columns a, b"), ("a\n1\n", "as a text"), ("a\n", "no rows")],
)
def test_datasets_that_are_refused(workspace: Workspace, text: str, message: str) -> None:
    with pytest.raises(UserErrorException, match=message):
        requests_in(dataset(workspace, text))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"cpu": 0.05}, "cpu must be a number from 0.1 to 3.5"),
        ({"cpu": 4}, "cpu"),
        ({"memory_in_gb": 16}, "memory_in_gb must be a number from 0.1 to 15"),
        ({"input_dataset": "rows"}, "is a TabularDataset"),
    ],
)
def test_arguments_that_are_refused(
    workspace: Workspace, config: InferenceConfig, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(UserErrorException, match=message):
        Model.profile(workspace, "birds-profile", [], config, **{"input_dataset": None, **arguments})
