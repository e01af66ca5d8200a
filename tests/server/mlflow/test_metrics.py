"""What is logged by MLflow's protocol is read by the other face as it was logged, and the other way round."""

from __future__ import annotations

import math
from operator import itemgetter
from urllib.parse import quote

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.server.conftest import journal_lines
from tests.server.mlflow.conftest import Mlflow

from runyard.contracts.journal import pack_value

POINT = st.tuples(st.floats(), st.integers(0, 2**45), st.integers(-(2**63) + 1, 2**63 - 1))
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=30).filter(
    str.strip
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    points=st.lists(POINT, min_size=1, max_size=5),
    name=TEXT,
    params=st.dictionaries(TEXT, st.text("ab\n'\"", max_size=9)),
)
def test_what_goes_in_through_one_face_comes_out_of_the_other(
    mlflow: Mlflow, points: list[tuple[float, int, int]], name: str, params: dict[str, str]
) -> None:
    run = mlflow.run("0")
    points = list({(repr(value), time, step): (value, time, step) for value, time, step in points}.values())
    metrics = [{"key": name, "value": _sent(value), "timestamp": time, "step": step} for value, time, step in points]
    listed = [{"key": key, "value": value} for key, value in params.items()]
    mlflow.ok("POST", "runs/log-batch", {"run_id": run, "metrics": metrics, "params": listed})
    [metric] = mlflow.client.ok("GET", f"/api/runs/{run}/metrics")["metrics"][run]
    assert metric["name"] == name
    assert metric["steps"] == [step for _, _, step in points]
    assert [_read(value) for value in metric["values"]] == [repr(value) for value, _, _ in points]
    assert mlflow.client.ok("GET", f"/api/runs/{run}")["parameters"] == params
    back = _history(mlflow, run, name)
    assert [(each["value"], each["timestamp"], each["step"]) for each in back] == [
        (_sent(value), time, step) for value, time, step in sorted(points, key=itemgetter(1, 2))
    ]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    points=st.lists(
        st.tuples(st.floats(), st.integers(0, 2**31), st.integers(-(2**62), 2**62)), min_size=1, max_size=5
    ),
    name=TEXT,
    params=st.dictionaries(TEXT, st.text("ab\n'\"", max_size=9)),
    tags=st.dictionaries(TEXT.filter(lambda key: not key.startswith("mlflow.")), TEXT),
)
def test_what_our_face_takes_comes_out_of_mlflows(
    mlflow: Mlflow, points: list[tuple[float, int, int]], name: str, params: dict[str, str], tags: dict[str, str]
) -> None:
    run = mlflow.client.make_run(workspace=mlflow.workspace)["id"]
    values = [["v", name, pack_value(value), float(seconds), step] for value, seconds, step in points]
    lines = journal_lines(*values, ["P", params], ["g", tags])
    assert mlflow.client.call("POST", f"/api/runs/{run}/journals/w?offset=0", body=lines).status == 200
    assert [(each["value"], each["timestamp"], each["step"]) for each in _history(mlflow, run, name)] == [
        (_sent(value), seconds * 1000, step) for value, seconds, step in sorted(points, key=itemgetter(1, 2))
    ]
    data = mlflow.ok("GET", f"runs/get?run_id={run}")["run"]["data"]
    assert [each["key"] for each in data["metrics"]] == [name]
    assert {each["key"]: each["value"] for each in data["params"]} == params
    shown = {each["key"]: each["value"] for each in data["tags"]}
    assert {key: value for key, value in shown.items() if not key.startswith("mlflow.")} == tags


def _sent(value: float) -> float | str:
    if math.isfinite(value):
        return value
    return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"


def _read(value: object) -> str:
    return str(value["f"]) if isinstance(value, dict) else repr(value)


def _history(mlflow: Mlflow, run: str, name: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = mlflow.ok("GET", f"metrics/get-history?run_id={run}&metric_key={quote(name)}")[
        "metrics"
    ]
    return found


def test_the_pages_of_a_history_are_of_one_moment(mlflow: Mlflow) -> None:
    run = mlflow.run("0")

    def log(first: int, last: int, time: int) -> None:
        points = [{"key": "m", "value": 1.0, "timestamp": time, "step": step} for step in range(first, last)]
        mlflow.ok("POST", "runs/log-batch", {"run_id": run, "metrics": points})

    def page(token: str) -> tuple[list[int], str]:
        found = mlflow.ok("GET", f"metrics/get-history?run_id={run}&metric_key=m&max_results=4{token}")
        return [each["step"] for each in found["metrics"]], f"&page_token={found.get('next_page_token')}"

    log(10, 20, time=2000)
    first, token = page("")
    log(0, 10, time=1000)  # they come before all others
    second, token = page(token)
    third, token = page(token)
    assert first + second + third == list(range(10, 20))
    assert token.endswith("None")
    assert len(_history(mlflow, run, "m")) == 20
    again, _ = page("&page_token=8")
    assert again == [8, 9, 10, 11], "a place that nobody has kept is found anew"


def test_histories_in_pages_and_samples(mlflow: Mlflow) -> None:
    run = mlflow.client.make_run(workspace=mlflow.workspace)["id"]
    lines = journal_lines(*(["v", "m", float(number), float(number), number] for number in range(1000)))
    mlflow.client.call("POST", f"/api/runs/{run}/journals/w?offset=0", body=lines)
    path = f"run_id={run}&metric_key=m"
    pages, token = [], ""
    while True:
        answer = mlflow.ok("GET", f"metrics/get-history?{path}&max_results=300{token}")
        pages += [each["step"] for each in answer["metrics"]]
        if "next_page_token" not in answer:
            break
        token = f"&page_token={answer['next_page_token']}"
    assert pages == list(range(1000))
    sampled = mlflow.ok(
        "GET", f"metrics/get-history-bulk-interval?run_ids={run}&metric_key=m&max_results=10&start_step=100"
    )
    steps = [each["step"] for each in sampled["metrics"]]
    assert (len(steps), steps[0], steps[-1]) == (10, 100, 999)
    assert len(mlflow.ok("GET", f"metrics/get-history-bulk?{path}&max_results=5000")["metrics"]) == 1000
    assert mlflow.refused("GET", f"metrics/get-history?{path}&page_token=x")[0] == 400


def test_data_and_models_that_a_run_has_read(mlflow: Mlflow) -> None:
    run = mlflow.run("0")
    dataset = {
        "dataset": {"name": "d", "digest": "1", "source": "s"},
        "tags": [{"key": "mlflow.data.context", "value": "train"}],
    }
    mlflow.ok("POST", "runs/log-inputs", {"run_id": run, "datasets": [dataset], "models": [{"model_id": "m-1"}]})
    mlflow.ok("POST", "runs/outputs", {"run_id": run, "models": [{"model_id": "m-2", "step": 5}]})
    found = mlflow.ok("GET", f"runs/get?run_id={run}")["run"]
    assert found["inputs"] == {"dataset_inputs": [dataset], "model_inputs": [{"model_id": "m-1"}]}
    assert found["outputs"] == {"model_outputs": [{"model_id": "m-2", "step": 5}]}
    asked = {"experiment_ids": ["0"], "filter": "datasets.name = 'd' and dataset.context LIKE 'tr%'"}
    assert len(mlflow.ok("POST", "runs/search", asked)["runs"]) == 1
