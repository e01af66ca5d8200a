"""Artifacts by MLflow's protocol are the outputs of a run."""

from __future__ import annotations

from tests.server.mlflow.conftest import Mlflow


def test_outputs_through_either_face(mlflow: Mlflow) -> None:
    run = mlflow.run("0")
    mlflow.client.call("PUT", f"/api/runs/{run}/files/outputs/a/ours.txt", body=b"ours")
    mlflow.client.call("PUT", f"/api/runs/{run}/files/beside.txt", body=b"no output")
    root = mlflow.ok("GET", f"runs/get?run_id={run}")["run"]["info"]["artifact_uri"].removeprefix("mlflow-artifacts:/")
    assert mlflow.artifact("PUT", f"{root}/a/theirs.txt", body=iter([b"the", b"irs"])).status == 200
    assert mlflow.client.call("GET", f"/api/runs/{run}/files/outputs/a/theirs.txt").body == b"theirs"
    assert mlflow.artifact("GET", f"{root}/a/ours.txt").body == b"ours"
    listed = mlflow.client.call(
        "GET", f"/mlflow/{mlflow.workspace}/api/2.0/mlflow-artifacts/artifacts?path={root}/a"
    ).json
    assert [each["path"] for each in listed["files"]] == ["ours.txt", "theirs.txt"]
    assert [each["path"] for each in mlflow.ok("GET", f"artifacts/list?run_id={run}")["files"]] == ["a"]
    for path in (f"{root}", "registry/none/1/x", "registry/none/x/y", "0/models/m-none/artifacts/x", "nothing"):
        assert mlflow.artifact("GET", path).status in (400, 404), path
    assert mlflow.artifact("PUT", "registry/none/1/x", body=b"x").status == 400
