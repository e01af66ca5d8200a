"""MLflow's own pages in a real browser, over what is stored here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support.browser import sign_in

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from tests.server.mlflow.conftest import Mlflow
    from tests.support.browser import PageErrors

pytestmark = [pytest.mark.slow, pytest.mark.framework]


def test_experiments_runs_charts_and_artifacts_are_shown(
    mlflow: Mlflow, mlflow_wheel: Path, new_page: Callable[..., Page], page_errors: PageErrors
) -> None:
    # Of users and of an assistant the pages ask every server, and take it well that there are none.
    page_errors.allow("users/current", "/assistant/", "AG Grid", "inline script")
    experiment = mlflow.experiment("seen by MLflow")
    runs = [mlflow.run(experiment, run_name=f"run {number}") for number in range(2)]
    for number, run in enumerate(runs):
        points = [{"key": "loss", "value": 1 / (step + 1), "step": step, "timestamp": step} for step in range(20)]
        params = [{"key": "lr", "value": f"0.{number}"}]
        mlflow.ok("POST", "runs/log-batch", {"run_id": run, "metrics": points, "params": params})
        mlflow.artifact("PUT", f"{experiment}/{run}/artifacts/notes/a.txt", body=b"what the run has written")
        page = b"<b>drawn</b><script>document.body.innerHTML = 'run'</script>"
        mlflow.artifact("PUT", f"{experiment}/{run}/artifacts/page.html", body=page)
    mlflow.ok("POST", "registered-models/create", {"name": "of-the-pages"})
    browser = new_page(viewport={"width": 1500, "height": 1000})
    sign_in(browser, mlflow.client)

    def open_page(address: str) -> None:
        browser.goto("about:blank")
        browser.goto(f"{mlflow.client.url}/mlflow/{mlflow.workspace}/#/{address}")

    open_page("experiments")
    browser.get_by_role("link", name="seen by MLflow").first.wait_for()
    open_page(f"experiments/{experiment}/runs")
    for number in range(2):
        browser.get_by_role("link", name=f"run {number}").first.wait_for()
    open_page(f"experiments/{experiment}/runs?compareRunsMode=CHART")
    browser.locator(".js-plotly-plot .scatterlayer .trace").nth(1).wait_for()
    open_page(f"experiments/{experiment}/runs/{runs[0]}")
    browser.get_by_text("lr", exact=True).first.wait_for()
    open_page(f"experiments/{experiment}/runs/{runs[0]}/model-metrics")
    browser.locator(".js-plotly-plot .scatterlayer .trace").first.wait_for()
    open_page(f"experiments/{experiment}/runs/{runs[0]}/artifacts/notes/a.txt")
    browser.get_by_text("what the run has written").wait_for()
    open_page(f"experiments/{experiment}/runs/{runs[0]}/artifacts/page.html")
    shown = browser.frame_locator("iframe").locator("body")
    shown.get_by_text("drawn").wait_for()
    assert "run" not in shown.inner_text(), "a script that a run has written has run in a page of this server"
    open_page("models")
    browser.get_by_text("of-the-pages").first.wait_for()
    # What a page changes is changed here.
    changed = browser.evaluate(
        "run => fetch('ajax-api/2.0/mlflow/runs/set-tag', {method: 'POST', headers: {'Content-Type': "
        "'application/json'}, body: JSON.stringify({run_id: run, key: 'team', value: 'red'})}).then(r => r.status)",
        runs[0],
    )
    assert changed == 200
    assert mlflow.client.ok("GET", f"/api/runs/{runs[0]}")["tags"]["team"] == "red"
