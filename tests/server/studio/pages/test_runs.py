"""The page of runs in a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page


def test_the_page_opens_from_its_link(page: Page) -> None:
    assert page.title() == "Runs · local · Runyard"
