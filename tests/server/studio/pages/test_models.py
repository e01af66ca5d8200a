"""The pages of models."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.support.filled import EVIL

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from tests.server.studio.pages.conftest import Filled

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("studio-assets")]
STUDIO = "/studio/local"


def test_a_model_says_where_it_is_from_and_its_texts_stay_texts(filled: Filled, assets_page: Page) -> None:
    filled.open(assets_page, f"{STUDIO}/models")
    assets_page.get_by_role("link", name="digits").click()
    assets_page.get_by_text("none: it was registered from files").wait_for()
    assets_page.get_by_role("link", name="version 1").click()
    assets_page.get_by_role("link", name="the one that was registered").wait_for()
    assert EVIL.replace("\x07", "") in assets_page.locator("main").inner_text().replace("\x07", "")
    with assets_page.expect_download() as download:
        assets_page.get_by_role("link", name="model.bin").click()
    assert download.value.path().read_bytes() == b"weights" * 1000
