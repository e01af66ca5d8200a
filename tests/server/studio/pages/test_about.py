"""The page of the server, and all pages of its kind at every width."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.support.browser import NARROW, breaches, crowded, sign_in

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page
    from tests.server.studio.pages.conftest import Filled
    from tests.support.browser import PageErrors

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("studio-assets")]
STUDIO = "/studio/local"


def all_pages(filled: Filled) -> list[str]:
    names = ("sweeps", "models", "services", "data", "datastores", "environments", "compute")
    return [
        *(f"{STUDIO}/{name}" for name in names),
        f"{STUDIO}/sweeps/{filled.sweep}",
        f"{STUDIO}/models/digits?version=1",
        f"{STUDIO}/services/adder",
        f"{STUDIO}/data/numbers",
        f"{STUDIO}/datastores/workspaceblobstore",
        f"{STUDIO}/environments/training?version=1",
        "/studio/server",
    ]


def test_every_page_is_in_order_at_every_width_in_both_themes(
    filled: Filled, new_page: Callable[..., Page], axe: str
) -> None:
    """`new_page` fails on errors, requests elsewhere and breaches of the content policy; axe finds nothing serious."""
    for options in ({"color_scheme": "light"}, {"color_scheme": "dark", "viewport": NARROW}):
        page = new_page(**options)
        sign_in(page, filled.served.client)
        for path in all_pages(filled):
            filled.open(page, path)
            page.locator("main h1").wait_for()
            if path.endswith("compute"):
                page.get_by_text("Nothing waits.").wait_for()
            if filled.sweep in path:
                page.locator("#trials tr").first.wait_for()
            assert breaches(page, axe) == [], f"{path} {options}"
            assert crowded(page) == [], f"{path} {options}"
            too_wide = page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
            assert not too_wide, f"{path} {options}"


def test_a_page_of_one_says_where_it_is(filled: Filled, assets_page: Page) -> None:
    for path in all_pages(filled):
        kind, name = path.removeprefix(f"{STUDIO}/").partition("/")[::2]
        if name and path.startswith(STUDIO):
            filled.open(assets_page, path)
            crumbs = assets_page.locator(".crumbs")
            assert crumbs.get_by_role("link").get_attribute("href") == f"{STUDIO}/{kind}"
            assert crumbs.inner_text().endswith(f"/ {name.partition('?')[0]}")


def test_the_server_says_how_it_stands(filled: Filled, assets_page: Page) -> None:
    filled.open(assets_page, "/studio/server")
    found: Any = filled.served.client.ok("GET", "/api/server/condition")
    assert assets_page.locator(".checks li").count() == len(found["checks"])
    assert {each["name"] for each in found["checks"]} >= {"database can be used", "there is room on the disk"}


@pytest.mark.parametrize(
    "path", ["sweeps/none", "models/none", "services/none", "data/none", "datastores/none", "environments/none"]
)
def test_what_is_not_there_is_a_page_that_says_so(
    filled: Filled, assets_page: Page, page_errors: PageErrors, path: str
) -> None:
    page_errors.allow("404")
    filled.open(assets_page, f"{STUDIO}/{path}")
    assert "none" in assets_page.locator("main").inner_text()
