"""The way to MLflow's pages: who gets them, with which policy, and what the address says without the extra."""

from __future__ import annotations

import html
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runyard.contracts.installation import installation

if TYPE_CHECKING:
    from tests.server.conftest import Client
    from tests.server.mlflow.conftest import Mlflow


def test_without_the_extra_the_address_says_which_command_installs_it(
    mlflow: Mlflow, signed_in: Callable[[Client], Client]
) -> None:
    browser = signed_in(mlflow.client)
    answer = browser.get(f"/mlflow/{mlflow.workspace}/")
    assert answer.status == 404
    assert installation().with_extra("mlflow-ui") in html.unescape(answer.body.decode())
    assert browser.get(f"/mlflow/{mlflow.workspace}/static-files/index.html").status == 404


@pytest.mark.framework
def test_whoever_is_signed_in_gets_the_pages_with_a_policy_of_their_own(
    mlflow: Mlflow, signed_in: Callable[[Client], Client], mlflow_wheel: Path
) -> None:
    address = f"/mlflow/{mlflow.workspace}"
    stranger = replace(mlflow.client, token=None)
    refused = stranger.get(f"{address}/")
    assert refused.status == 401
    assert b"runyard studio" in refused.body
    browser = signed_in(mlflow.client)
    moved = browser.get(address)
    assert (moved.status, moved.headers["location"]) == (308, f"{address}/")
    page = browser.get(f"{address}/")
    assert page.status == 200
    assert page.body == (mlflow_wheel / "server/js/build/index.html").read_bytes()
    policy = page.headers["content-security-policy"]
    host = mlflow.client.url.removeprefix("http://")
    assert f"script-src {host}{address}/static-files/ 'unsafe-eval';" in policy
    assert "default-src 'none'" in policy
    assert browser.get("/mlflow/nowhere/").status == 404
    strange = browser.call("GET", f"{address}/", headers={"Host": "evil.example"})
    assert strange.status in (401, 403)


@pytest.mark.framework
def test_files_are_packed_and_kept_by_the_browser(mlflow: Mlflow, mlflow_wheel: Path) -> None:
    files = mlflow_wheel / "server/js/build"
    (script,) = files.glob("static/js/main.*.js")
    address = f"/mlflow/{mlflow.workspace}/static-files/{script.relative_to(files)}"
    stranger = replace(mlflow.client, token=None)
    whole = stranger.get(address)
    assert whole.body == script.read_bytes()
    assert whole.headers["content-type"].startswith("text/javascript")
    packed = stranger.get(address, Accept_Encoding="gzip")
    assert packed.headers["content-encoding"] == "gzip"
    assert len(packed.body) < len(whole.body) / 2
    assert stranger.get(address, If_None_Match=whole.headers["etag"]).status == 304
    outside = stranger.get(f"/mlflow/{mlflow.workspace}/static-files/..%2f..%2fhandlers.py")
    assert outside.status == 404
