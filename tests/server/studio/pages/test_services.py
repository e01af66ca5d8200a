"""The pages of services: one is tried from its page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from tests.support.filled_assets import WS

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from tests.server.studio.pages.conftest import Filled

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("studio-assets")]
STUDIO = "/studio/local"


def test_a_service_is_tried_with_what_it_says_that_it_takes(filled: Filled, assets_page: Page) -> None:
    filled.open(assets_page, f"{STUDIO}/services/adder")
    assets_page.get_by_text("An example of what it takes").wait_for()
    body = assets_page.get_by_label("The request, as JSON")
    assert "1.5" in body.input_value()
    body.fill('{"data": [1, 2, 39]}')
    assets_page.get_by_role("button", name="Send").click()
    assets_page.get_by_text('"sum": 42').wait_for()
    assert assets_page.locator("#trial-took").inner_text().startswith("200 after")
    body.fill("{")
    assets_page.get_by_role("button", name="Send").click()
    assets_page.get_by_text("This is no JSON").wait_for()
    assets_page.get_by_text("the model is loaded").wait_for()
    assets_page.locator("#requests").filter(has_text=re.compile("^[1-9]")).wait_for()
    numbers = filled.served.client.ok("GET", f"{WS}/services/adder/numbers")["numbers"]
    assert numbers["requests"] >= 1
    assert numbers["errors"] == 0
