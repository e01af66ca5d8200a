"""The questions that MLflow's pages ask by GraphQL: answers with every field they ask for, in their forms."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.frameworks import environment

if TYPE_CHECKING:
    from tests.server.mlflow.conftest import Mlflow


def ask(mlflow: Mlflow, query: str, **asked: Any) -> Any:
    return mlflow.client.ok(
        "POST", f"/mlflow/{mlflow.workspace}/graphql", {"query": query, "variables": {"data": asked}}
    )["data"]


def questions() -> dict[str, str]:
    """Those in the scripts of MLflow's wheel, by their field."""
    found = {}
    for script in (
        environment("mlflow").parents[1].glob("lib/python3*/site-packages/mlflow/server/js/build/static/js/*")
    ):
        for query in re.findall(r"query \w+\(\$\w+: \w+!\)[^`]{20,4000}", script.read_text("utf-8")):
            found[re.findall(r"\{\s*(\w+)\(", query)[0]] = query
    return found


@pytest.mark.framework
def test_every_question_of_the_pages_gets_all_that_it_asks_for(mlflow: Mlflow) -> None:
    experiment = mlflow.experiment()
    mlflow.ok("POST", "experiments/set-experiment-tag", {"experiment_id": experiment, "key": "k", "value": "v"})
    run = mlflow.run(experiment, run_name="seen")
    for step, value in enumerate((0.5, "NaN")):
        point = {"run_id": run, "key": "loss", "value": value, "step": step, "timestamp": 1000 + step}
        mlflow.ok("POST", "runs/log-metric", point)
    mlflow.ok("POST", "runs/log-inputs", {"run_id": run, "datasets": [{"dataset": {"name": "d", "digest": "1"}}]})
    mlflow.ok("POST", "runs/outputs", {"run_id": run, "models": [{"model_id": "m-1", "step": 2}]})
    mlflow.artifact("PUT", f"{experiment}/{run}/artifacts/model/MLmodel", body=b"flavors: {}")
    mlflow.ok("POST", "registered-models/create", {"name": "reg"})
    mlflow.ok("POST", "model-versions/create", {"name": "reg", "source": f"runs:/{run}/model", "run_id": run})
    asked: dict[str, dict[str, Any]] = {
        "mlflowGetExperiment": {"experimentId": experiment},
        "mlflowGetRun": {"runId": run},
        "mlflowSearchRuns": {"experimentIds": [experiment], "filter": "params.none IS NULL", "maxResults": 5},
        "mlflowGetMetricHistoryBulkInterval": {"runIds": [run], "metricKey": "loss", "startStep": 0, "maxResults": 320},
    }
    known = questions()
    assert set(known) == set(asked)
    answers = {field: ask(mlflow, query, **asked[field])[field] for field, query in known.items()}
    for field, found in answers.items():
        assert found["apiError"] is None, found
        wanted = selection(iter(re.findall(r"\w+|[{}]", re.sub(r"\([^)]*\)|@\w+", "", known[field]).partition("{")[2])))
        assert not list(lacking(wanted[field], found, field))
    (shown,) = answers["mlflowSearchRuns"]["runs"]
    assert shown == answers["mlflowGetRun"]["run"]
    assert shown["data"]["metrics"] == [{"key": "loss", "value": None, "step": "1", "timestamp": "1001"}]
    assert (shown["info"]["endTime"], shown["experiment"]["name"]) == (None, "trial")
    assert [each["version"] for each in shown["modelVersions"]] == ["1"]
    assert shown["outputs"]["modelOutputs"] == [{"modelId": "m-1", "step": "2"}]
    points = answers["mlflowGetMetricHistoryBulkInterval"]["metrics"]
    assert [each["value"] for each in points] == [0.5, None]


@pytest.mark.parametrize(
    "asked",
    [
        {"experimentIds": "text"},
        {"maxResults": ["many"]},
        {"runIds": 1, "metricKey": "loss"},
        {"runIds": [], "startStep": "soon"},
    ],
)
def test_a_question_of_the_wrong_form_is_refused_with_the_field(mlflow: Mlflow, asked: dict[str, object]) -> None:
    field = "mlflowGetMetricHistoryBulkInterval" if "runIds" in asked else "mlflowSearchRuns"
    question = {"query": f"query Q($data: I!) {{ {field}(input: $data) {{ apiError {{ code }} }} }}"}
    answer = mlflow.client.call(
        "POST", f"/mlflow/{mlflow.workspace}/graphql", {**question, "variables": {"data": asked}}
    )
    assert answer.status == 400
    assert re.search("experiment_ids|max_results|run_ids|start_step", answer.json["message"])


def selection(words: Iterator[str]) -> dict[str, Any]:
    """The fields that a question asks for, each with those that it asks of it."""
    fields: dict[str, Any] = {}
    last = ""
    for word in words:
        if word == "}":
            break
        if word == "{":
            fields[last] = selection(words)
        elif word != "__typename":
            fields[word], last = {}, word
    return fields


def lacking(fields: dict[str, Any], value: Any, place: str) -> Iterator[str]:
    if isinstance(value, list):
        for each in value:
            yield from lacking(fields, each, place)
    elif value is not None:
        for name, below in fields.items():
            if name not in value:
                yield f"{place}.{name}"
            else:
                yield from lacking(below, value[name], f"{place}.{name}")


def test_what_is_refused(mlflow: Mlflow) -> None:
    said = ask(mlflow, "query GetRun($data: X!) { mlflowGetRun(input: $data) { run } }", runId="nobody")
    assert said["mlflowGetRun"]["apiError"]["code"] == "run_not_found"
    address = f"/mlflow/{mlflow.workspace}/graphql"
    for query in ("", "{ __schema { types { name } } }", "mutation { mlflowDeleteRun(input: {}) { run } }", "{" * 9000):
        refused = mlflow.client.call("POST", address, {"query": query})
        assert (refused.status, refused.json["error_code"]) == (400, "INVALID_PARAMETER_VALUE"), query[:80]
