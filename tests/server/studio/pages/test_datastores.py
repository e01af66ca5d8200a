"""The pages of datastores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from tests.server.studio.pages.conftest import Filled

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("studio-assets")]
STUDIO = "/studio/local"


def test_the_files_of_a_datastore_can_be_fetched(filled: Filled, assets_page: Page) -> None:
    filled.open(assets_page, f"{STUDIO}/datastores")
    assets_page.get_by_role("link", name="lab").click()
    with assets_page.expect_download() as download:
        assets_page.get_by_role("link", name="1.csv").click()
    assert download.value.path().read_text() == "a,b\n" * 2
