"""Figures of Plotly: drawn in a frame that has no origin and no network, where Plotly is installed."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from runyard.server.studio import figures

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from tests.server.conftest import Client, Served

Enter = Callable[["Client"], "Client"]

EVIL = '<img src=x onerror="parent.document.title=1">'
FIGURE = {
    "data": [{"type": "scatter", "y": [1, 3, 2], "name": 'a "name" with ] and }'}, {"type": "bar", "y": [2, 1, 4]}],
    "layout": {"title": {"text": f"losses {EVIL}"}, "height": 320, "images": [{"source": "http://192.0.2.1/x.png"}]},
}


@pytest.fixture
def go() -> Any:
    return pytest.importorskip("plotly.graph_objects", reason="plotly is not installed: pip install '.[plotly]'")


def test_the_frame_has_its_scripts_and_may_do_nothing_else(here: Client, signed_in: Enter, go: Any) -> None:
    answer = signed_in(here).get("/figures/frame")
    policy = answer.headers["content-security-policy"]
    assert "sandbox allow-scripts;" in policy
    assert "default-src 'none'" in policy
    assert "connect-src" not in policy, "it falls back to none"
    inside = re.findall(rb"<script>(.*?)</script>", answer.body, re.DOTALL)
    assert len(inside) == 2
    for script in inside:
        assert f"'sha256-{base64.b64encode(hashlib.sha256(script).digest()).decode()}'" in policy
    again = replace(signed_in(here), headers={**signed_in(here).headers, "If-None-Match": answer.headers["etag"]})
    assert again.get("/figures/frame").status == 304


def test_a_stranger_gets_no_frame(here: Client) -> None:
    assert replace(here, token=None).get("/figures/frame").status == 401


def test_without_the_extra_the_command_is_said(here: Client, signed_in: Enter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "_SCRIPT", "plotly/package_data/none.js")
    answer = signed_in(here).get("/figures/frame")
    assert answer.status == 404
    assert b"plotly" in answer.body
    assert "plotly" in figures.missing()
    run = here.make_run()
    assert b'{"missing":' in signed_in(here).get(f"/studio/local/runs/{run['id']}").body


def test_a_browser_draws_what_runs_have_written(studio: Served, page: Page, go: Any, page_errors: Any) -> None:
    # A picture from elsewhere, and what the test asks for below: both are refused before anything is sent.
    page_errors.allow("http://192.0.2.1/", "Fetch API cannot load", "/api/runs' violates")
    client = studio.client
    run = client.make_run(display_name="with figures")
    notebook = {
        "cells": [
            {
                "cell_type": "code",
                "source": "fig",
                "outputs": [{"output_type": "display_data", "data": {"application/vnd.plotly.v1+json": FIGURE}}],
            }
        ]
    }
    large = go.Figure(go.Scatter(y=[float(each) / 7 for each in range(60_000)]))
    own = go.Figure(FIGURE["data"], {"title": {"text": "by write_html"}})
    files = {
        "figure.json": json.dumps(FIGURE),
        "large.json": large.to_json(),
        "page.html": own.to_html(include_plotlyjs=False),
        "whole.html": own.to_html(include_plotlyjs=True),
        "cells.ipynb": json.dumps(notebook),
    }
    for name, content in files.items():
        client.ok("PUT", f"/api/runs/{run['id']}/files/outputs/{name}", body=content.encode())
    lists = {"outputs/list.json": b'{"data": [], "layout": {}}', "outputs/other.json": b'{"data": [1, 2]}'}
    for name, body in lists.items():
        client.ok("PUT", f"/api/runs/{run['id']}/files/{name}", body=body)

    page.goto(f"{client.url}/studio/local/runs/{run['id']}")
    page.get_by_role("tab", name="Files").click()
    title = page.title()
    for name, traces in (
        ("figure.json", 2),
        ("large.json", 1),
        ("page.html", 2),
        ("whole.html", 2),
        ("cells.ipynb", 2),
    ):
        page.locator(".panel-files .files-row", has_text=name).click()
        page.wait_for_selector(f".files-name >> text={name}")
        inside = page.frame_locator(".files-body iframe.figure")
        inside.locator(".main-svg").first.wait_for()
        assert inside.locator(".trace").count() == traces, name
    page.locator(".panel-files .files-row", has_text="figure.json").click()
    frame = page.locator(".files-body iframe.figure")
    page.frame_locator("iframe.figure").locator(".gtitle", has_text="losses").wait_for()
    assert frame.get_attribute("sandbox") == "allow-scripts"
    assert frame.get_attribute("height") == "320"
    assert page.title() == title
    child = next(each for each in page.frames if each.url.endswith("/figures/frame"))
    assert child.evaluate("() => origin") == "null"
    refused = child.evaluate("() => fetch('/api/runs').then(() => 'answered', () => 'refused')")
    assert refused == "refused"
    page.locator("summary", has_text="Its definition").click()
    page.wait_for_selector(".code >> text=scatter")
    for name in ("list.json", "other.json"):
        page.locator(".panel-files .files-row", has_text=name).click()
        page.wait_for_selector(f".files-name >> text={name}")
        page.wait_for_selector(".files-body .code")
        assert page.locator("iframe.figure").count() == 0, name
