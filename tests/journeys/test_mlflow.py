"""MLflow in submitted runs: plain MLflow code logs into the run, and nothing that it logs is lost or waits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.support.frameworks import environment

from azureml.core import Experiment, Run

if TYPE_CHECKING:
    from tests.journeys.conftest import Yard

SCRIPT = """
    import os
    import mlflow
    from mlflow import MlflowClient
    from azureml.core import Run

    mlflow.log_metric("acc", 0.5, step=3)  # starts the run that is there
    assert "MLFLOW_RUN_ID" not in os.environ  # the client takes it out
    for step in range(200):
        mlflow.log_metric("loss", 1 / (step + 1), step=step)
    mlflow.log_metrics({"odd": float("nan")}, step=1)
    mlflow.log_params({"lr": 0.1, "layers": "[1, 2]"})
    mlflow.set_tags({"team": "red", "mlflow.note.content": "by MLflow"})
    with open("x.txt", "w") as file:
        file.write("an artifact")
    mlflow.log_artifact("x.txt", "sub")
    try:
        mlflow.log_param("lr", 0.2)
        raise SystemExit("a parameter was changed")
    except mlflow.exceptions.MlflowException as error:
        assert error.error_code == "INVALID_PARAMETER_VALUE", error
    Run.get_context().log("other face", 7)
    with mlflow.start_run(nested=True, run_name="inner") as inner:
        mlflow.log_metric("acc", 0.9)
        mlflow.log_text("of the child", "child.txt")
    client = MlflowClient()
    me = os.environ["AZUREML_RUN_ID"]
    seen = client.get_run(me)
    assert seen.data.params == {"lr": "0.1", "layers": "[1, 2]"}, seen.data.params
    assert seen.data.metrics["acc"] == 0.5, seen.data.metrics
    assert len(client.get_metric_history(me, "loss")) == 200
    assert [each.path for each in client.list_artifacts(me, "sub")] == ["sub/x.txt"]
    assert open(client.download_artifacts(me, "sub/x.txt")).read() == "an artifact"
    found = mlflow.search_runs(filter_string="metrics.acc > 0.8", output_format="list")
    assert [each.info.run_id for each in found] == [inner.info.run_id], found
    mlflow.end_run()  # which does not end the job
    assert client.get_run(me).info.status == "RUNNING"
    with mlflow.start_run(run_name="second") as second:
        mlflow.log_param("a", 1)
"""


@pytest.mark.framework
@pytest.mark.parametrize("framework", ["mlflow", "mlflow2"])
def test_plain_mlflow_code_logs_into_the_run(shared_yard: Yard, framework: str) -> None:
    config = shared_yard.config(SCRIPT)
    config.run_config.environment.python.interpreter_path = str(environment(framework))
    run = Experiment(shared_yard.workspace, f"journey-{framework}").submit(config)
    assert run.wait_for_completion()["status"] == "Completed"
    metrics = run.get_metrics()
    assert len(metrics["loss"]) == 200
    assert metrics["acc"] == 0.5
    assert metrics["other face"] == 7
    assert metrics["odd"] != metrics["odd"]
    assert run.get_tags()["team"] == "red"
    assert run.description == "by MLflow"
    assert "outputs/sub/x.txt" in run.get_file_names()
    details = run.get_details()
    assert details.get("warnings", []) == []
    children = {child.display_name: child for child in run.get_children()}
    assert set(children) == {"inner", "second"}
    assert {child.get_status() for child in children.values()} == {"Completed"}
    assert children["inner"].get_metrics() == {"acc": 0.9}
    assert children["inner"].get_file_names() == ["outputs/child.txt"]


def test_mlflow_with_an_address_of_its_own_is_left_alone(shared_yard: Yard) -> None:
    script = """
        import mlflow
        mlflow.set_tracking_uri('sqlite:///outputs/mlflow.db')
        mlflow.log_metric('loss', 0.5)
    """
    run = shared_yard.submit(script)
    assert run.wait_for_completion()["status"] == "Completed"
    assert run.get_metrics() == {}
    assert "outputs/mlflow.db" in run.get_file_names()


def test_a_killed_server_does_not_hold_the_loop_up(yard: Yard) -> None:
    script = """
        import os, time
        import mlflow
        mlflow.log_metric("before", 1)
        longest = 0.0
        step = 0
        while not os.path.exists("outputs/go"):
            begun = time.perf_counter()
            mlflow.log_metric("loss", step, step=step)
            longest = max(longest, time.perf_counter() - begun)
            step += 1
            time.sleep(0.002)
            with open("outputs/answered", "w") as file:
                file.write(str(step))
        begun = time.perf_counter()
        mlflow.log_text("kept", "kept.txt")
        artifact = time.perf_counter() - begun
        mlflow.log_metric("steps", step)
        mlflow.log_metrics({"longest call": longest, "artifact": artifact})
    """
    run = yard.submit(script)
    work = yard.home / "runs" / run.id / "work" / "outputs"

    def answered() -> int:
        said = (work / "answered").read_text() if (work / "answered").exists() else ""
        return int(said or 0)

    yard.wait(lambda: answered() > 50, "the loop")
    yard.kill_server()  # in the middle of it
    alone = answered()
    yard.wait(lambda: answered() > alone + 300, "calls that are answered while there is no server")
    (work / "go").touch()
    runner = yard.runner_of(run)
    yard.wait(lambda: not any(child.is_running() for child in runner.children()), "the end of the script")
    run = Run(Experiment(yard.workspace, "journey"), run.id)  # which starts the server again
    assert run.wait_for_completion()["status"] == "Completed"
    metrics = run.get_metrics()
    assert metrics["loss"] == list(range(int(metrics["steps"])))
    assert metrics["steps"] > alone + 300
    assert "outputs/kept.txt" in run.get_file_names()
    print(f"longest of {metrics['steps']:.0f} calls: {1000 * metrics['longest call']:.0f} ms")
