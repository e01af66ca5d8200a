"""What every page has: times in the zone of its reader, a theme that is kept, keys that lead to other pages, words for
what is empty; and the pages that need no session."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect
from tests.support.browser import NARROW, breaches, sign_in
from tests.support.rich_runs import rich

from runyard.server.studio.templating import SECTIONS

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page
    from tests.server.conftest import Served
    from tests.support.browser import PageErrors

NEXT_STEPS = {
    "runs": "runyard submit",
    "experiments": "runyard submit",
    "sweeps": "runyard sweep start",
    "models": "runyard models register",
    "services": "runyard services deploy",
    "data": "Dataset.File.from_files",
}
"""What a page of which there is nothing yet says to do."""


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/New_York"])
def test_times_are_in_the_zone_of_the_reader(studio: Served, new_page: Callable[..., Page], zone: str) -> None:
    page = new_page(timezone_id=zone, locale="en-GB")
    sign_in(page, studio.client)
    studio.client.make_run()
    page.goto(f"{studio.settings.url}/studio/local/experiments")
    newest = page.locator("#experiments time").first
    expect(newest).to_have_attribute("title", re.compile(r"\d\d:\d\d:\d\d"))
    shown = page.evaluate(
        "zone => new Intl.DateTimeFormat(undefined, {dateStyle: 'medium', timeStyle: 'medium', timeZone: zone})"
        ".format(new Date(document.querySelector('#experiments time').dateTime))",
        zone,
    )
    assert newest.get_attribute("title") == shown


def test_the_theme_is_kept(page: Page) -> None:
    colour = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(colour)
    for chosen in ("light", "dark"):
        page.keyboard.press("t")
        expect(page.locator("#theme-button")).to_have_text(f"Theme: {chosen}")
    dark = page.evaluate(colour)
    assert dark != light
    page.reload()
    expect(page.locator("#theme-button")).to_have_text("Theme: dark")
    assert page.evaluate(colour) == dark


def test_keys_lead_to_every_page(page: Page) -> None:
    """`?` lists them, one for each page of the navigation."""
    page.keyboard.press("?")
    dialog = page.locator("#keys-dialog")
    keys = dialog.locator("dt", has_text=re.compile(r"^g \w")).all_inner_texts()
    sections = [said.removeprefix("Go to ") for said in dialog.locator("dd", has_text="Go to ").all_inner_texts()]
    assert sorted(sections) == sorted(name for name, _ in SECTIONS)
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    # The page of runs, where it begins, comes last.
    for key, section in sorted(zip(keys, sections, strict=True), key=lambda each: each[1] == "runs"):
        for pressed in key.split():
            page.keyboard.press(pressed)
        page.wait_for_url(f"**/studio/local/{section}")
        page.locator(f"nav a[aria-current=page][href$='/{section}']").wait_for()


def test_a_workspace_in_which_nothing_is_says_what_to_do_next(studio: Served, page: Page, axe: str) -> None:
    studio.client.ok("POST", "/api/workspaces", {"name": "bare", "subscription_id": "s", "resource_group": "g"})
    for path, command in NEXT_STEPS.items():
        page.goto(f"{studio.settings.url}/studio/bare/{path}")
        expect(page.locator(".empty")).to_contain_text(command)
        assert breaches(page, axe) == [], path
    for path in ("datastores", "environments", "compute"):
        page.goto(f"{studio.settings.url}/studio/bare/{path}")
        page.locator("main h1").wait_for()
        assert breaches(page, axe) == [], path


@pytest.mark.parametrize("look", [{"color_scheme": "light"}, {"color_scheme": "dark", "viewport": NARROW}])
def test_pages_for_whoever_is_not_signed_in(
    studio: Served, new_page: Callable[..., Page], page_errors: PageErrors, axe: str, look: dict[str, object]
) -> None:
    """No session, a link that was used or has expired, an address that is none, and the link of one run."""
    page_errors.allow("401", "404", "403")
    run = studio.client.make_run(display_name="shared")
    page = new_page(**look)
    link = studio.client.ok("GET", f"/api/runs/{run['id']}")["web_url"]
    for path, said in (
        ("/studio/local/runs", "runyard studio"),
        ("/studio/enter?code=nosuch", "runyard studio"),
        (f"/runs/{run['id']}?key=wrong", "does not open"),
        (link.removeprefix(studio.settings.url), "shared"),
    ):
        page.goto(studio.settings.url + path)
        expect(page.locator("body")).to_contain_text(said)
        assert breaches(page, axe) == [], path
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path


SHIFTS = """() => new Promise((done) => {
    let sum = 0;
    new PerformanceObserver((list) => {
        for (const each of list.getEntries()) if (!each.hadRecentInput) sum += each.value;
    }).observe({type: "layout-shift", buffered: true});
    setTimeout(() => done(sum), 500);
})"""


def test_nothing_jumps_while_a_page_is_filled(studio: Served, page: Page) -> None:
    """What browsers sum up as layout shift: 0.1 is where they call a page restless."""
    run = rich(studio.client)
    studio.client.end(run)
    for path, filled in (
        ("runs", "#runs-table tbody tr"),
        ("experiments", "#experiments tbody tr"),
        (f"runs/{run['id']}", "figure[data-drawn]"),
        ("compute", "#waiting >> text=Nothing waits."),
    ):
        page.goto(f"{studio.settings.url}/studio/local/{path}")
        page.locator(filled).first.wait_for()
        assert page.evaluate(SHIFTS) < 0.1, path
