"""What a client asks of the server before all else."""

from __future__ import annotations

from tests.server.mlflow.conftest import Mlflow


def test_a_client_is_told_what_it_talks_to(mlflow: Mlflow) -> None:
    root = f"/mlflow/{mlflow.workspace}"
    assert mlflow.client.ok("GET", f"{root}/api/3.0/mlflow/server-info")["multipart_uploads_enabled"] is False
    assert mlflow.client.get(f"{root}/version").body.startswith(b"3.")
    assert mlflow.client.get(f"{root}/health").body == b"OK"
    assert (
        mlflow.client.get("/mlflow/nowhere/api/3.0/mlflow/server-info").json["error_code"] == "RESOURCE_DOES_NOT_EXIST"
    )
