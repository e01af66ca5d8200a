"""The pages of environments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from tests.server.studio.pages.conftest import Filled

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("studio-assets")]
STUDIO = "/studio/local"


def test_each_version_says_what_it_asks_for(filled: Filled, assets_page: Page) -> None:
    filled.open(assets_page, f"{STUDIO}/environments")
    assets_page.get_by_role("link", name="training").click()
    asked = assets_page.locator(".card").filter(has_text="Asks for")
    assert asked.locator("code").all_inner_texts()[:3] == ["python=3.11", "numpy==1.26", "scikit-learn"]
    assets_page.get_by_text("runyard env build training").wait_for()
    assets_page.get_by_role("link", name="version 1").click()
    assets_page.wait_for_url("**version=1")
    assert asked.locator("code").all_inner_texts()[:2] == ["python=3.11", "numpy==1.26"]
