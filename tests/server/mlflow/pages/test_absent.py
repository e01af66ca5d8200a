"""Parts of MLflow that are not here: its pages are told that there is nothing of them, its client that they are not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runyard.server.mlflow.pages.absent import NOTHING

if TYPE_CHECKING:
    from tests.server.mlflow.conftest import Mlflow


def test_pages_go_on_and_clients_are_told(mlflow: Mlflow) -> None:
    place = f"/mlflow/{mlflow.workspace}"
    for address, nothing in NOTHING.items():
        assert mlflow.client.ok("POST", f"{place}/ajax-api/{address}", {}) == nothing
        assert mlflow.client.call("POST", f"{place}/api/{address}", {}).json["error_code"] == "ENDPOINT_NOT_FOUND"
    elsewhere = mlflow.client.call("POST", f"/mlflow/nowhere/ajax-api/{next(iter(NOTHING))}", {})
    assert elsewhere.json["error_code"] == "RESOURCE_DOES_NOT_EXIST"
