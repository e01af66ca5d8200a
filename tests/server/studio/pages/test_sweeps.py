"""The pages of sweeps: which child is best, with which parameters."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

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


def test_a_drag_along_an_axis_leaves_the_children_within_that_range(filled: Filled, assets_page: Page) -> None:
    page = assets_page
    filled.open(page, f"{STUDIO}/sweeps/{filled.sweep}")
    canvas = page.locator("#parallel-chart canvas.chart-canvas")
    canvas.scroll_into_view_if_needed()
    expect(canvas).to_have_attribute("aria-label", re.compile(r"6 runs over x, y, acc\. "))
    box = canvas.bounding_box()
    assert box is not None
    # The first axis, from above its end to its middle.
    page.mouse.move(box["x"] + 40, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + 40, box["y"] + box["height"] / 2, steps=4)
    page.mouse.up()
    found = re.search(r"([0-9]) of them within the chosen ranges", canvas.get_attribute("aria-label") or "")
    assert found is not None
    assert 1 <= int(found[1]) <= 5
    canvas.press("Escape")
    expect(canvas).to_have_attribute("aria-label", re.compile(r"6 runs over x, y, acc\. "))
