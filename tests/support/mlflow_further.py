"""What users of MLflow do besides the usual (`mlflow_story`), by its real client, against the address in
MLFLOW_TRACKING_URI: every step checks what the client gives back. It runs in an environment of MLflow's, of 2.x or 3.
"""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mlflow
from mlflow import MlflowClient
from mlflow.entities import Metric
from mlflow.exceptions import MlflowException

THREE = int(mlflow.__version__.partition(".")[0]) >= 3
entities: Any = importlib.import_module("mlflow.entities")


def refusal(call: Callable[[], object]) -> str:
    """The code of the error that a call ends in."""
    try:
        call()
    except MlflowException as error:
        return str(error.error_code)
    return ""


def experiments(client: MlflowClient) -> None:
    for letter in "cab":
        client.create_experiment(f"sorted {letter}", tags={"letter": letter})

    def found(condition: str, **more: Any) -> str:
        return "".join(each.name[-1] for each in client.search_experiments(filter_string=condition, **more))

    assert found("name LIKE 'sorted%'", order_by=["name DESC"]) == "cba"
    assert found("name ILIKE 'SORTED%' AND tags.letter != 'a'", order_by=["creation_time ASC"]) == "cb"
    assert found("name LIKE 'sorted%' AND last_update_time > 0") == "bac", "the newest come first"
    page = client.search_experiments(filter_string="name LIKE 'sorted%'", max_results=2)
    assert found("name LIKE 'sorted%'", max_results=2, page_token=page.token) == "c"
    if THREE:
        experiment = client.create_experiment("tagged", tags={"a/ü %": "1", "b": "2"})
        client.delete_experiment_tag(experiment, "a/ü %")
        assert client.get_experiment(experiment).tags == {"b": "2"}


def points(client: MlflowClient) -> None:
    experiment = client.create_experiment("points")
    with mlflow.start_run(experiment_id=experiment) as run:
        for step in range(100):  # several threads send them, in any order
            mlflow.log_metric("a", step, step=step, synchronous=False)
        mlflow.log_params({"x": 1}, synchronous=False)
        mlflow.flush_async_logging()
    run_id = run.info.run_id
    assert [each.step for each in client.get_metric_history(run_id, "a")] == list(range(100))
    assert client.get_run(run_id).data.metrics["a"] == 99
    assert client.get_run(run_id).data.params == {"x": "1"}
    client.log_batch(run_id, [Metric("b", 1, 1_600_000_001_000, 0)])
    client.log_batch(run_id, [Metric("b", 2, 1_600_000_000_000, 0)])
    assert client.get_run(run_id).data.metrics["b"] == 1, "the later one, and not the one that came last"
    with mlflow.start_run(run_id=run_id):
        mlflow.log_params({f"p{number}": "v" for number in range(1000)})
        mlflow.log_metrics({f"m/{number} ü": number for number in range(1500)}, step=-3)
        mlflow.log_param("long", "x" * 6000)
        mlflow.set_tag("long", "y" * 8000)
    data = client.get_run(run_id).data
    assert (len(data.params), len(data.metrics)) == (1002, 1502)
    assert (data.params["long"], data.tags["long"]) == ("x" * 6000, "y" * 8000)
    assert client.get_metric_history(run_id, "m/7 ü")[0].step == -3
    other = mlflow.start_run(experiment_id=experiment)
    with mlflow.start_run(experiment_id=experiment, nested=True) as inner:
        parent = mlflow.get_parent_run(inner.info.run_id)
        assert parent is not None
        assert parent.info.run_id == other.info.run_id
    mlflow.end_run()
    found = client.search_runs([experiment], f"tags.mlflow.parentRunId = '{other.info.run_id}'")
    assert [each.info.run_id for each in found] == [inner.info.run_id]
    try:
        with mlflow.start_run(experiment_id=experiment) as failing:
            raise ValueError
    except ValueError:
        assert client.get_run(failing.info.run_id).info.status == "FAILED"


def artifacts(client: MlflowClient) -> None:
    experiment = client.create_experiment("artifacts")
    mlflow.set_experiment(experiment_id=experiment)
    run = client.create_run(experiment).info.run_id
    names = ("a.txt", "b&+;=@ [x]{y} 'q' ü𝛼.txt", "empty", "..x")
    with tempfile.TemporaryDirectory() as name:
        for each in names:
            (Path(name) / each).write_text("" if each == "empty" else each, "utf-8")
        client.log_artifacts(run, name, "some/files")
    assert sorted(each.path for each in client.list_artifacts(run, "some/files")) == sorted(
        f"some/files/{each}" for each in names
    )
    with tempfile.TemporaryDirectory() as name:
        got = Path(client.download_artifacts(run, "some", name)) / "files"
        assert {each.name: each.read_text("utf-8") for each in got.iterdir()} == {
            each: "" if each == "empty" else each for each in names
        }
    assert mlflow.artifacts.load_text(f"runs:/{run}/some/files/a.txt") == "a.txt"
    registry: Any = importlib.import_module("mlflow.store.artifact.artifact_repository_registry")
    repository = registry.get_artifact_repository(client.get_run(run).info.artifact_uri)
    repository.delete_artifacts("some/files/a.txt")
    assert len(client.list_artifacts(run, "some/files")) == 3
    repository.delete_artifacts("some")
    assert client.list_artifacts(run) == []
    with mlflow.start_run() as started:
        mlflow.log_table({"a": [1, 2], "b": ["x", "y"]}, "t.json")
        mlflow.log_table({"a": [3], "b": ["z"]}, "t.json")
        if THREE:  # the other environment has nothing that draws
            import numpy

            mlflow.log_image(numpy.zeros((4, 4, 3), dtype=numpy.uint8), key="seen", step=3)
    assert list(mlflow.load_table("t.json", run_ids=[started.info.run_id])["a"]) == [1, 2, 3]
    assert len(client.list_artifacts(started.info.run_id, "images")) == (2 if THREE else 0)


def inputs(client: MlflowClient) -> None:
    import pandas

    data: Any = importlib.import_module("mlflow.data")
    experiment = client.create_experiment("inputs")
    with mlflow.start_run(experiment_id=experiment) as run:
        mlflow.log_input(data.from_pandas(pandas.DataFrame({"a": [1, 2]}), name="numbers"), context="training")
    seen: Any = client.get_run(run.info.run_id)
    (read,) = seen.inputs.dataset_inputs
    assert (read.dataset.name, {each.key: each.value for each in read.tags}) == (
        "numbers",
        {"mlflow.data.context": "training"},
    )
    condition = f"dataset.name = 'numbers' and datasets.digest IN ('{read.dataset.digest}')"
    assert len(client.search_runs([experiment], condition)) == 1
    assert len(client.search_runs([experiment], "dataset.context = 'testing'")) == 0


def logged_models(client: Any) -> None:
    if not THREE:
        return
    import pandas

    experiment = client.create_experiment("logged models")
    mlflow.set_experiment(experiment_id=experiment)
    id = client.create_logged_model(experiment, name="first", tags={"a": "b"}, params={"p": "1"}).model_id
    client.log_model_params(id, {"q": "x" * 900})
    client.set_logged_model_tags(id, {"t/ü x": "1"})
    client.delete_logged_model_tag(id, "t/ü x")
    assert client.get_logged_model(id).params == {"p": "1", "q": "x" * 900}
    assert "t/ü x" not in client.get_logged_model(id).tags
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "f.txt").write_text("f")
        client.log_model_artifacts(id, name)
    assert [each.path for each in client.list_logged_model_artifacts(id)] == ["f.txt"]
    client.finalize_logged_model(id, "READY")
    dataset = importlib.import_module("mlflow.data").from_pandas(pandas.DataFrame({"a": [1]}), name="numbers")
    second = mlflow.create_external_model(name="second").model_id
    with mlflow.start_run() as run:
        mlflow.log_metric("f1", 0.9, model_id=id, dataset=dataset)
        mlflow.log_metric("f1", 0.2, model_id=second)
        client.log_inputs(run.info.run_id, models=[entities.LoggedModelInput(second)])
        client.log_outputs(run.info.run_id, [entities.LoggedModelOutput(second, step=3)])
    seen = client.get_run(run.info.run_id)
    assert {each.model_id for each in seen.inputs.model_inputs} == {id, second}, "fluent log_metric tells of them too"
    assert [(each.model_id, each.step) for each in seen.outputs.model_outputs] == [(second, 3)]

    def found(condition: str, **more: Any) -> list[str]:
        models = mlflow.search_logged_models([experiment], condition, output_format="list", **more)
        return [each.name for each in models]

    assert found("metrics.f1 > 0.6") == found("params.p = '1' and tags.a = 'b'") == ["first"]
    assert found("metrics.f1 > 0.1", datasets=[{"dataset_name": "numbers"}]) == ["first"]
    assert found("metrics.f1 > 0.1", order_by=[{"field_name": "metrics.f1", "ascending": True}]) == ["second", "first"]
    client.delete_logged_model(id)
    assert found("") == ["second"]
    assert refusal(lambda: client.get_logged_model(id)) == "RESOURCE_DOES_NOT_EXIST"


def registry(client: MlflowClient) -> None:
    import numpy
    from sklearn.linear_model import LinearRegression

    mlflow.set_experiment("versions")
    with mlflow.start_run() as run:
        how = {"name": "m"} if THREE else {"artifact_path": "m"}
        mlflow.sklearn.log_model(LinearRegression().fit(numpy.array([[0.0], [1.0]]), [0, 1]), **how)
    run_id = run.info.run_id
    for letter in "abc":
        client.create_registered_model(f"found-{letter}", tags={"letter": letter}, description=letter)
        for number in range(3):
            client.create_model_version(f"found-{letter}", f"runs:/{run_id}/m", run_id, tags={"i": str(number)})

    def models(condition: str, **more: Any) -> str:
        return "".join(each.name[-1] for each in client.search_registered_models(condition, **more))

    assert models("name LIKE 'found-%'", order_by=["name DESC"]) == "cba"
    assert models("name LIKE 'found-%' and tags.letter != 'a'", order_by=["timestamp ASC", "name"]) == "bc"
    page = client.search_registered_models("name LIKE 'found-%'", max_results=2)
    assert models("name LIKE 'found-%'", max_results=2, page_token=page.token) == "c"

    def versions(condition: str, **more: Any) -> list[str]:
        return [str(each.version) for each in client.search_model_versions(condition, **more)]

    assert versions("name = 'found-a'") == ["3", "2", "1"]
    assert versions("name = 'found-a'", order_by=["version_number ASC"]) == ["1", "2", "3"]
    assert versions(f"run_id = '{run_id}' and tags.i = '2'") == ["3"] * 3
    first = client.search_model_versions("name LIKE 'found-%'", max_results=4)
    assert len(versions("name LIKE 'found-%'", max_results=9, page_token=first.token)) == 5
    client.transition_model_version_stage("found-a", "1", "Production")
    client.transition_model_version_stage("found-a", "2", "Production", archive_existing_versions=True)
    assert client.get_model_version("found-a", "1").current_stage == "Archived"
    for address in ("models:/found-a/Production", "models:/found-a/latest"):
        assert round(float(mlflow.pyfunc.load_model(address).predict(numpy.array([[2.0]]))[0]), 6) == 2, address


STEPS = {step.__name__: step for step in (experiments, points, artifacts, inputs, logged_models, registry)}

if __name__ == "__main__":
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "1")
    os.environ.setdefault("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", "false")
    for name in sys.argv[1:] or STEPS:
        STEPS[name](MlflowClient())
