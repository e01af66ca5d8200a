"""What a user of MLflow does, by its real client, against the address in MLFLOW_TRACKING_URI: every step checks what
the client gives back. It runs in an environment of MLflow's, of 2.x or 3, and prints what it has made as JSON.
"""

from __future__ import annotations

import importlib
import json
import math
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import mlflow
from mlflow import MlflowClient
from mlflow.entities import Metric, Param, RunTag, ViewType
from mlflow.exceptions import MlflowException

MADE: dict[str, Any] = {}
THREE = int(mlflow.__version__.partition(".")[0]) >= 3


def refused(code: str, call: Any, *args: Any, **more: Any) -> str:
    """The message of a refusal, which must have this code."""
    try:
        call(*args, **more)
    except MlflowException as error:
        if error.error_code == code:
            return str(error)
        raise
    raise AssertionError(f"{call} should have been refused with {code}")


def training(client: MlflowClient) -> None:
    mlflow.set_experiment("a story/of MLflow: ünd more")
    with mlflow.start_run(run_name="first", description="what it is", tags={"team": "red"}) as run:
        mlflow.log_param("lr", 0.1)
        mlflow.log_params({f"p{number}": number for number in range(150)})
        for step in range(5):
            mlflow.log_metric("acc", step / 10, step=step)
        mlflow.log_metrics({"loss": 0.5, "odd": float("nan"), "far": float("inf")}, step=7)
        mlflow.set_tag("note", "ä\n𝛼")
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "x ü.txt").write_text("hello", "utf-8")
            (folder / "sub").mkdir()
            (folder / "sub" / "y.bin").write_bytes(b"0123456789" * 100_000)
            mlflow.log_artifact(str(folder / "x ü.txt"))
            mlflow.log_artifacts(name, "all")
        mlflow.log_text("text", "notes/a.txt")
        mlflow.log_dict({"a": 1}, "notes/a.json")
        with mlflow.start_run(nested=True, run_name="inner") as inner:
            mlflow.log_metric("acc", 0.99)
        if THREE:
            mlflow.log_input(_dataset(), context="training")
    run_id = run.info.run_id
    MADE.update(run=run_id, inner=inner.info.run_id)
    found = client.get_run(run_id)
    assert found.info.status == "FINISHED", found.info
    assert found.info.run_name == "first"
    assert found.data.params["lr"] == "0.1"
    assert len(found.data.params) == 151
    assert found.data.metrics["acc"] == 0.4
    assert math.isnan(found.data.metrics["odd"])
    assert found.data.metrics["far"] > 1e308
    assert found.data.tags["note"] == "ä\n𝛼"
    assert found.data.tags["mlflow.note.content"] == "what it is"
    assert client.get_run(inner.info.run_id).data.tags["mlflow.parentRunId"] == run_id
    history = client.get_metric_history(run_id, "acc")
    assert [(each.step, each.value) for each in history] == [(step, step / 10) for step in range(5)]
    assert client.get_metric_history(run_id, "nothing") == []
    assert sorted(each.path for each in client.list_artifacts(run_id)) == ["all", "notes", "x ü.txt"]
    assert [(each.path, each.file_size) for each in client.list_artifacts(run_id, "all/sub")] == [
        ("all/sub/y.bin", 1_000_000)
    ]
    with tempfile.TemporaryDirectory() as name:
        got = Path(client.download_artifacts(run_id, "all", name))
        assert (got / "sub" / "y.bin").read_bytes() == b"0123456789" * 100_000
        assert (got / "x ü.txt").read_text("utf-8") == "hello"
    with mlflow.start_run(run_id=run_id):  # a run that has ended goes on
        mlflow.log_metric("acc", 0.6, step=9)
        assert client.get_run(run_id).info.status == "RUNNING"
    assert client.get_run(run_id).data.metrics["acc"] == 0.6


def _dataset() -> Any:
    import pandas

    from_pandas: Any = importlib.import_module("mlflow.data").from_pandas
    return from_pandas(pandas.DataFrame({"a": [1, 2]}), name="numbers")


def batches(client: MlflowClient) -> None:
    experiment = client.create_experiment("batches", tags={"a": "b"})
    run = client.create_run(experiment, start_time=1_600_000_000_000, run_name="filled")
    assert run.info.start_time == 1_600_000_000_000
    metrics = [Metric(f"m{number}", number, 1_600_000_000_000 + number, number) for number in range(900)]
    params = [Param("a", "1"), Param("b", "x" * 500)]
    client.log_batch(run.info.run_id, metrics, params, [RunTag("t", "1")])
    client.log_batch(run.info.run_id, params=[Param("a", "1")])
    told = refused("INVALID_PARAMETER_VALUE", client.log_param, run.info.run_id, "a", "2")
    assert "'a'" in told
    client.set_terminated(run.info.run_id, "KILLED")
    found = client.get_run(run.info.run_id)
    assert found.info.status == "KILLED"
    assert len(found.data.metrics) == 900
    assert found.data.metrics["m899"] == 899
    client.update_run(run.info.run_id, status="FAILED", name="renamed")
    assert (client.get_run(run.info.run_id).info.status, client.get_run(run.info.run_id).info.run_name) == (
        "FAILED",
        "renamed",
    )
    client.set_experiment_tag(experiment, "more", "1")
    client.rename_experiment(experiment, "batches 2")
    renamed = client.get_experiment_by_name("batches 2")
    assert renamed is not None
    assert (renamed.experiment_id, renamed.tags) == (experiment, {"a": "b", "more": "1"})
    assert client.get_experiment_by_name("batches") is None
    assert client.get_experiment("0").name == "Default"
    client.delete_experiment(experiment)
    assert client.get_experiment(experiment).lifecycle_stage == "deleted"
    assert client.get_run(run.info.run_id).info.lifecycle_stage == "deleted"
    refused("INVALID_PARAMETER_VALUE", client.create_run, experiment)
    assert [each.name for each in client.search_experiments(ViewType.DELETED_ONLY)] == ["batches 2"]
    client.restore_experiment(experiment)
    found_experiments = client.search_experiments(filter_string="name LIKE 'batch%' AND tags.a = 'b'")
    assert [each.name for each in found_experiments] == ["batches 2"]
    assert len(client.search_experiments(max_results=1)) == 1
    client.delete_run(run.info.run_id)
    assert client.search_runs([experiment]) == []
    assert len(client.search_runs([experiment], run_view_type=ViewType.DELETED_ONLY)) == 1
    refused("INVALID_PARAMETER_VALUE", client.log_metric, run.info.run_id, "late", 1)
    client.restore_run(run.info.run_id)
    client.delete_tag(run.info.run_id, "t")
    assert "t" not in client.get_run(run.info.run_id).data.tags
    refused("RESOURCE_DOES_NOT_EXIST", client.get_run, "0" * 32)
    refused("RESOURCE_ALREADY_EXISTS", client.create_experiment, "batches 2")
    MADE["batches"] = run.info.run_id


def queries(client: MlflowClient) -> None:
    experiment = client.create_experiment("queries")
    ids = []
    for number in range(12):
        run = client.create_run(experiment, run_name=f"run {number}", tags={"parity": str(number % 2)})
        ids.append(run.info.run_id)
        if number != 5:
            client.log_metric(ids[-1], "acc", math.nan if number == 4 else number / 10)
        client.log_metric(ids[-1], "batch size", 8 * (number % 3))
        client.log_param(ids[-1], "lr", f"0.{number % 3}")
        client.set_terminated(ids[-1], "FAILED" if number == 11 else "FINISHED")

    def numbers(filter_string: str = "", order_by: Any = None, **more: Any) -> list[int]:
        found = client.search_runs([experiment], filter_string, order_by=order_by, **more)
        return [ids.index(each.info.run_id) for each in found]

    newest = list(range(11, -1, -1))
    assert numbers() == newest
    assert numbers("metrics.acc > 0.7") == [11, 10, 9, 8]
    assert numbers("metrics.acc >= 0.7 and metrics.acc <= 0.8", ["metrics.acc ASC"]) == [7, 8]
    assert numbers("metrics.acc != 0.7") == [each for each in newest if each not in (5, 7)]
    assert numbers("metrics.acc > 0.5 and params.lr = '0.1'", ["metrics.acc DESC"]) == [10, 7]
    assert numbers("params.lr LIKE '%.1' and tags.parity = '1'") == [7, 1]
    assert numbers("params.lr != '0.1' and params.lr != '0.2'") == [9, 6, 3, 0]
    assert numbers("metrics.`batch size` = 16", ['metrics."batch size" DESC', "metrics.acc"]) == [2, 8, 11, 5]
    assert numbers("attributes.status = 'FAILED'") == [11]
    assert numbers("status != 'FAILED' and run_name = 'run 3'") == [3]
    assert numbers("tags.mlflow.runName ILIKE 'RUN 1%'") == [11, 10, 1]
    assert numbers("run_name LIKE 'RUN%'") == []
    assert numbers(f"run_id IN ('{ids[2]}', '{ids[3]}')") == [3, 2]
    assert numbers(f"attributes.run_id NOT IN ('{ids[2]}')") == [each for each in newest if each != 2]
    assert numbers("attributes.start_time > 0 and end_time > 0") == newest
    assert numbers("attributes.start_time < 1000") == []
    ordered = numbers("", ["metrics.acc DESC"])
    assert ordered == [11, 10, 9, 8, 7, 6, 3, 2, 1, 0, 4, 5], ordered
    assert numbers("", ["metrics.acc ASC"]) == [0, 1, 2, 3, 6, 7, 8, 9, 10, 11, 4, 5]
    assert numbers("", ["params.lr ASC", "attributes.start_time DESC"])[:4] == [9, 6, 3, 0]
    assert numbers("", ["tags.parity DESC", "metrics.acc DESC"])[:3] == [11, 9, 7]
    assert numbers("", ["attribute.run_name ASC"])[:3] == [0, 1, 10]
    assert numbers("", ["attributes.start_time ASC"]) == newest[::-1]
    for order in ([], ["metrics.acc DESC"], ["params.lr", "metrics.acc"]):
        token, pages = None, []
        while True:
            page = client.search_runs([experiment], "", max_results=5, order_by=order, page_token=token)
            pages += [ids.index(each.info.run_id) for each in page]
            token = page.token
            if not token:
                break
        assert pages == numbers("", order), order
    told = refused("INVALID_PARAMETER_VALUE", client.search_runs, [experiment], "metrics.acc >")
    assert "character 14" in told, told
    refused("INVALID_PARAMETER_VALUE", client.search_runs, [experiment], "", max_results=50_001)
    refused("INVALID_PARAMETER_VALUE", client.search_runs, [experiment], "", page_token="nothing")
    refused("INVALID_PARAMETER_VALUE", client.search_runs, [experiment], "metrics.a > 1", order_by=["x y z"])
    frame = mlflow.search_runs([experiment], filter_string="metrics.acc > 0.9", order_by=["metrics.acc DESC"])
    assert list(frame["metrics.acc"]) == [1.1, 1.0]


def models(client: MlflowClient) -> None:
    import numpy
    from sklearn.linear_model import LogisticRegression

    mlflow.set_experiment("models")
    mlflow.sklearn.autolog()
    rows, labels = numpy.array([[0.0], [1.0], [2.0], [3.0]] * 5), [0, 0, 1, 1] * 5
    with mlflow.start_run() as run:
        fitted = LogisticRegression().fit(rows, labels)
        fitted.score(rows, labels)
    mlflow.sklearn.autolog(disable=True)
    found = client.get_run(run.info.run_id)
    assert found.data.params["solver"] == "lbfgs"
    assert found.data.metrics["training_score"] == 1.0
    loaded = mlflow.pyfunc.load_model(f"runs:/{run.info.run_id}/model")
    assert list(loaded.predict(rows[:4])) == [0, 0, 1, 1]
    with mlflow.start_run() as run:
        how = {"name": "mine"} if THREE else {"artifact_path": "mine"}
        info = mlflow.sklearn.log_model(fitted, registered_model_name="story.model", **how)
    version = client.get_model_version("story.model", "1")
    assert (version.status, version.run_id) == ("READY", run.info.run_id)
    second = mlflow.register_model(f"runs:/{run.info.run_id}/mine", "story.model", tags={"a": "b"})
    assert str(second.version) == "2"
    client.set_registered_model_alias("story.model", "champion", "2")
    assert client.get_model_version_by_alias("story.model", "champion").tags == {"a": "b"}
    for address in ("models:/story.model@champion", "models:/story.model/1", info.model_uri):
        assert list(mlflow.pyfunc.load_model(address).predict(rows[:4])) == [0, 0, 1, 1], address
    MADE.update(model_run=run.info.run_id)
    if THREE:
        (logged,) = mlflow.search_logged_models(
            filter_string="name = 'mine'", experiment_ids=[run.info.experiment_id], output_format="list"
        )
        assert logged.source_run_id == run.info.run_id
        assert str(logged.status) == "READY"
        client.set_logged_model_tags(logged.model_id, {"k": "v"})
        assert client.get_logged_model(logged.model_id).tags["k"] == "v"
        mlflow.log_metric("f1", 0.7, model_id=logged.model_id, run_id=run.info.run_id)
        assert [each.value for each in client.get_logged_model(logged.model_id).metrics or [] if each.key == "f1"] == [
            0.7
        ]
        outside = mlflow.sklearn.log_model(fitted, name="of no run")
        assert list(mlflow.pyfunc.load_model(outside.model_uri).predict(rows[:4])) == [0, 0, 1, 1]


def registry(client: MlflowClient) -> None:
    client.create_registered_model("other", tags={"k": "v"}, description="first")
    refused("RESOURCE_ALREADY_EXISTS", client.create_registered_model, "other")
    refused("INVALID_PARAMETER_VALUE", client.create_registered_model, "no name of a file:/")
    client.update_registered_model("other", "second")
    client.set_registered_model_tag("other", "t", "1")
    client.delete_registered_model_tag("other", "k")
    found = client.get_registered_model("other")
    assert (found.description, found.tags) == ("second", {"t": "1"})
    run = MADE["model_run"]
    version = client.create_model_version("other", f"runs:/{run}/mine", run, description="d", tags={"x": "y"})
    client.transition_model_version_stage("other", version.version, "Production")
    assert [each.current_stage for each in client.get_latest_versions("other", ["Production"])] == ["Production"]
    client.update_model_version("other", version.version, "changed")
    client.set_model_version_tag("other", version.version, "p", "q")
    client.delete_model_version_tag("other", version.version, "x")
    seen = client.get_model_version("other", version.version)
    assert (seen.description, seen.tags) == ("changed", {"p": "q"})
    assert {each.name for each in client.search_registered_models("name ILIKE 'OTH%'")} == {"other"}
    assert len(client.search_registered_models(max_results=1)) == 1
    assert [each.name for each in client.search_model_versions(f"name = 'other' and run_id = '{run}'")] == ["other"]
    assert client.get_model_version_download_uri("other", version.version)
    client.rename_registered_model("other", "another")
    assert client.get_registered_model("another").latest_versions[0].name == "another"
    copied = client.copy_model_version("models:/story.model@champion", "copy")
    assert list(mlflow.pyfunc.load_model(f"models:/copy/{copied.version}").predict([[0.0], [3.0]])) == [0, 1]
    client.set_registered_model_alias("another", "a", version.version)
    client.delete_registered_model_alias("another", "a")
    refused("INVALID_PARAMETER_VALUE", client.set_registered_model_alias, "another", "v3", version.version)
    client.delete_model_version("another", version.version)
    refused("RESOURCE_DOES_NOT_EXIST", client.get_model_version, "another", version.version)
    client.delete_registered_model("another")
    refused("RESOURCE_DOES_NOT_EXIST", client.get_registered_model, "another")


STEPS = {step.__name__: step for step in (training, batches, queries, models, registry)}

if __name__ == "__main__":
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "1")
    os.environ.setdefault("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", "false")
    for name in sys.argv[1:] or STEPS:
        STEPS[name](MlflowClient())
    print(json.dumps(MADE))
