"""What MLflow's pages call: the protocol, with the session of the browser, and from no page of another site."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.server.conftest import Client
    from tests.server.mlflow.conftest import Mlflow


def test_a_session_is_enough_for_a_page_of_this_server_and_for_no_other(
    mlflow: Mlflow, signed_in: Callable[[Client], Client]
) -> None:
    run = mlflow.run("0")
    own = mlflow.client.url
    address = f"/mlflow/{mlflow.workspace}/ajax-api/2.0/mlflow"
    cookie = signed_in(mlflow.client).headers["Cookie"]
    browser = replace(mlflow.client, token=None, headers={"Cookie": cookie})
    assert browser.get(f"{address}/runs/get?run_id={run}").json["run"]["info"]["run_id"] == run
    tag = {"run_id": run, "key": "from", "value": "a page"}
    assert browser.call("POST", f"{address}/runs/set-tag", tag, headers={"Origin": own}).status == 200
    tags = mlflow.ok("GET", f"runs/get?run_id={run}")["run"]["data"]["tags"]
    assert {"key": "from", "value": "a page"} in tags
    for headers in (
        {},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": own, "Sec-Fetch-Site": "cross-site"},
    ):
        refused = browser.call("POST", f"{address}/runs/set-tag", tag, headers=headers)
        assert (refused.status, refused.json["error_code"]) == (403, "PERMISSION_DENIED"), headers
    # What is no call of MLflow's pages still needs the studio's mark.
    plain = f"/mlflow/{mlflow.workspace}/api/2.0/mlflow/runs/set-tag"
    assert browser.call("POST", plain, tag, headers={"Origin": own}).status == 403
    assert replace(browser, headers={}).get(f"{address}/runs/get?run_id={run}").status == 401
    assert mlflow.client.get(f"{address}/runs/get?run_id={run}").status == 200
    assert browser.get(f"{address}/no/such").json["error_code"] == "ENDPOINT_NOT_FOUND"
