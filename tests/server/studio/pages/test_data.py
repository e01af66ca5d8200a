"""The pages of datasets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from tests.server.studio.pages.conftest import Filled

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("studio-assets")]
STUDIO = "/studio/local"


def test_a_dataset_shows_its_files_and_who_read_it(filled: Filled, assets_page: Page) -> None:
    filled.open(assets_page, f"{STUDIO}/data/numbers")
    assets_page.get_by_role("link", name="/<b>bold<b>.csv").wait_for()
    with assets_page.expect_download() as download:
        assets_page.get_by_role("link", name="/2.csv").click()
    assert download.value.path().read_text() == "a,b\n" * 3
    assert assets_page.get_by_role("link", name="reader").get_attribute("href") == f"{STUDIO}/runs/{filled.reader}"
