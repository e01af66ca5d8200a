"""The page of compute: a run that waits says why, and for whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.support.filled_assets import WS

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from tests.server.studio.pages.conftest import Filled

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("studio-assets")]
STUDIO = "/studio/local"


def test_compute_shows_who_has_the_nodes_and_why_others_wait(filled: Filled, assets_page: Page) -> None:
    client = filled.served.client
    client.ok("POST", f"{WS}/compute", {"name": "one", "engine": "local", "max_nodes": 1})
    launch = {"command": "sleep 600"}
    runs = [client.make_run(kind="script", target="one", launch=launch, display_name=f"job {n}") for n in range(2)]
    try:
        filled.open(assets_page, f"{STUDIO}/compute")
        assets_page.locator("#going").get_by_role("link", name="job 0").wait_for()
        waiting = assets_page.locator("#waiting").get_by_role("row").filter(has_text="job 1")
        waiting.wait_for()
        assert runs[0]["id"] in waiting.inner_text() or "one" in waiting.inner_text()
        assets_page.locator("#targets").get_by_text(runs[0]["id"]).wait_for()
    finally:
        for each in runs:
            client.ok("POST", f"/api/runs/{each['id']}/cancel")
