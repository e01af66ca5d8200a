"""The page of experiments in a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect
from tests.support.browser import NARROW, breaches

if TYPE_CHECKING:
    from playwright.sync_api import Page


def test_experiments(page: Page, axe: str) -> None:
    page.goto(page.url.replace("/runs", "/experiments"))
    rows = page.locator("#experiments tbody tr")
    expect(rows).to_have_count(2)
    assert breaches(page, axe) == []
    page.keyboard.press("j")
    expect(rows.first).to_have_attribute("aria-current", "true")
    page.get_by_role("button", name="Archive baseline").click()
    expect(rows).to_have_count(1)
    page.get_by_role("link", name="Archived").click()
    page.get_by_role("button", name="Bring back baseline").click()
    expect(rows).to_have_count(0)
    page.set_viewport_size(NARROW)  # type: ignore[arg-type]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.goto(f"{page.url.partition('?')[0]}?q=nosuch")
    expect(page.get_by_text("No experiment is called like that")).to_be_visible()
