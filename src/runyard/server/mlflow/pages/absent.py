"""What MLflow's pages ask of parts of MLflow that are not here: that there is nothing of it, so that they go on.

Its client is not told so: it gets the error that says what is missing.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from runyard.server.mlflow.here import At
from runyard.server.responses.documents import answer

router = APIRouter(prefix="/mlflow/{workspace}/ajax-api", include_in_schema=False)

NOTHING: dict[str, dict[str, Any]] = {
    "2.0/mlflow/gateway-proxy": {"endpoints": []},
    "2.0/mlflow/webhooks": {"webhooks": []},
    "3.0/mlflow/datasets/search": {"datasets": []},
    "3.0/mlflow/gateway/endpoints/list": {"endpoints": []},
    "3.0/mlflow/issues/search": {"issues": []},
    "3.0/mlflow/scorers/list": {"scorers": []},
    "3.0/mlflow/traces/metrics": {"data_points": []},
    "3.0/mlflow/traces/search": {"traces": []},
    # What people do with the pages is not told to MLflow's makers.
    "3.0/mlflow/ui-telemetry": {"disable_ui_telemetry": True, "disable_ui_events": [], "ui_rollout_percentage": 0},
}
"""The answers, by address below `ajax-api`."""


@router.api_route("/{address:path}", methods=["GET", "POST"])
def nothing(address: str, here: At) -> Response:
    with here.read():
        return answer(NOTHING[address])
