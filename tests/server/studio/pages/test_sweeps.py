"""The pages of sweeps: which child is best, with which parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from tests.server.studio.pages.conftest import Filled

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("studio-assets")]
STUDIO = "/studio/local"


def test_a_sweep_shows_its_best_its_children_and_their_parameters(filled: Filled, assets_page: Page) -> None:
    filled.open(assets_page, f"{STUDIO}/sweeps")
    assets_page.get_by_role("link", name=filled.sweep).click()
    assets_page.locator("#trials tr").nth(5).wait_for()
    standing = filled.served.client.ok("GET", f"/api/runs/{filled.sweep}/sweep")
    (best,) = [each for each in standing["trials"] if each["run_id"] == standing["best"]]
    first = assets_page.locator("#trials tr").first
    assert first.get_by_role("link").inner_text() == f"child {best['number']}"
    assert assets_page.locator("#child-count").inner_text() == "6 of 6"
    assert assets_page.locator("#trials-head th").all_inner_texts() == [
        "Child",
        "State",
        "acc",
        "x",
        "y",
        "Why it was stopped",
    ]
    for chart in ("progress", "curves", "parallel"):
        assets_page.locator(f"#{chart}-chart canvas").first.wait_for()
