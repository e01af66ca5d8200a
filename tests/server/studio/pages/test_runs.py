"""The page of runs in a browser: what people do with it, what it does by itself, and what would shut somebody out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect
from tests.support.browser import NARROW, breaches, crowded
from tests.support.filled import EVIL

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from tests.server.conftest import Served
    from tests.support.browser import PageErrors


def rows(page: Page) -> list[str]:
    return [text.strip() for text in page.locator("#runs-table tbody td.name a").all_inner_texts()]


def filtered(page: Page, sentence: str) -> None:
    page.fill("#filter", sentence)
    page.keyboard.press("Enter")


def test_filter_order_groups_and_the_way_back(page: Page) -> None:
    assert page.title() == "Runs · local · Runyard"
    table = page.locator("#runs-table tbody tr")
    expect(table).to_have_count(14)
    assert EVIL in (page.locator("#runs-table tbody td.name a").first.text_content() or "")
    filtered(page, "status:completed metrics.acc>0.9 tag.owner=me")
    expect(table).to_have_count(3)
    assert rows(page) == ["trial 9", "trial 7", "trial 5"]
    page.locator("[data-sort='metrics.acc']").click()
    expect(page).to_have_url(re.compile(r"sort=-metrics\.acc"))
    page.reload()
    expect(table).to_have_count(3)
    assert page.input_value("#filter").startswith("status:completed")
    filtered(page, "")
    page.select_option("#group", "experiment")
    expect(page.locator("tr.group")).to_have_count(2)
    page.locator("[data-open-group]").first.click()
    expect(page.locator("tr[data-id]").first).to_be_visible()
    page.go_back()
    expect(page.locator("tr.group")).to_have_count(0)
    filtered(page, "name:nosuch")
    expect(page.get_by_text("No run is like that")).to_be_visible()


def test_a_wrong_sentence_is_shown_where_it_is_wrong(page: Page, page_errors: PageErrors) -> None:
    page_errors.allow("400 (Bad Request)")
    filtered(page, "status:failed statu:x")
    expect(page.locator("#filter-problem")).to_contain_text("There is no field 'statu' (character 15)")
    assert page.get_attribute("#filter", "aria-invalid") == "true"


def test_completion(page: Page) -> None:
    page.keyboard.press("/")
    page.keyboard.type("metrics.tr")
    option = page.locator("#filter-list [role=option]")
    expect(option).to_have_text(re.compile("metrics.train/loss"))
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.input_value("#filter") == "metrics.train/loss"
    page.fill("#filter", "tag.owner=")
    expect(page.locator("#filter-list [role=option]")).to_have_text(["tag.owner=me", "tag.owner=you"])


def test_children_columns_views_and_batches(page: Page, studio: Served) -> None:
    page.get_by_role("button", name="Child runs of cross validation").click()
    expect(page.locator("tr[data-depth='1']")).to_have_count(3)
    page.click("#columns-button")
    page.get_by_label("Find a column").fill("owner")
    page.locator("[data-key='box tag.owner']").check()
    expect(page.locator("th[data-column='tag.owner']")).to_be_visible()
    page.locator("[data-key='pin tag.owner']").click()
    expect(page.locator("th").nth(2)).to_have_attribute("data-column", "tag.owner")
    page.keyboard.press("Escape")
    page.click("#views-button")
    page.get_by_label("Name of this view").fill("owners")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("button", name="owners", exact=True)).to_be_visible()
    page.goto(page.url.partition("?")[0])
    expect(page.locator("th[data-column='status']")).to_be_visible()
    expect(page.locator("th[data-column='tag.owner']")).to_have_count(0)
    page.click("#views-button")
    page.get_by_role("button", name="owners", exact=True).click()
    expect(page.locator("th").nth(2)).to_have_attribute("data-column", "tag.owner")
    page.keyboard.press("Escape")
    filtered(page, '"trial 1"')
    page.get_by_label("Choose trial 1", exact=True).check()
    page.get_by_role("button", name="Tag", exact=True).click()
    page.get_by_label("Tag", exact=True).fill("kept")
    page.get_by_label("Value").fill("yes")
    page.get_by_role("button", name="Set the tag").click()
    expect(page.get_by_text("Tagged 1 run.")).to_be_visible()
    found = studio.client.ok("GET", "/api/workspaces/local/table?filter=tag.kept%3Dyes")["runs"]
    assert [run["name"] for run in found] == ["trial 1"]
    page.get_by_role("button", name="Archive").click()
    expect(page.get_by_text("Archived 1 run.")).to_be_visible()
    filtered(page, "is:archived")
    page.get_by_label("Choose trial 1", exact=True).check()
    page.get_by_role("button", name="Restore").click()
    expect(page.get_by_text("No run is like that")).to_be_visible()


def columns(page: Page) -> list[str]:
    """Of the table, but for those that are always there: the boxes and the names."""
    heads = page.locator("#runs-table th[data-column]")
    names: list[str] = heads.evaluate_all("(all) => all.map((each) => each.dataset.column)")
    assert names[:2] == ["tick", "name"]
    return names[2:]


def test_columns_change_places_and_stay_in_sight(page: Page) -> None:
    before = columns(page)
    last = before[-1]
    page.click("#columns-button")
    for _ in range(2):
        page.get_by_role("button", name=f"Move {last} up").click()
    expect(page.locator("#runs-table th[data-column]").nth(len(before) - 1)).to_have_attribute("data-column", last)
    assert columns(page) == [*before[:-3], last, *before[-3:-1]]
    page.get_by_role("button", name=f"Move {last} down").click()
    page.get_by_role("button", name=f"Pin {last}", exact=True).click()
    expect(page.get_by_role("button", name=f"Pin {last}", exact=True)).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Escape")
    page.reload()
    pinned = page.locator(f"#runs-table th[data-column='{last}']")
    expect(pinned).to_be_visible()
    page.set_viewport_size({"width": 700, "height": 700})
    page.locator("#runs-frame").evaluate("(frame) => { frame.scrollLeft = 10_000; }")
    expect(pinned).to_be_in_viewport()
    assert page.locator("#runs-frame").evaluate("(frame) => frame.scrollLeft") > 0


def test_pages_are_turned(page: Page, studio: Served) -> None:
    client = studio.client
    made = [client.make_run(display_name=f"page {at}", tags={"for": "pages"})["id"] for at in range(60)]
    try:
        page.goto(page.url.partition("?")[0] + "?size=25&q=tag.for%3Dpages")
        place = page.locator("#place")
        expect(place).to_have_text("1 – 25 of 60")
        expect(page.locator("#before")).to_be_disabled()
        seen = rows(page)
        page.click("#after")
        expect(place).to_have_text("26 – 50 of 60")
        seen += rows(page)
        page.keyboard.press("n")
        expect(place).to_have_text("51 – 60 of 60")
        expect(page.locator("#after")).to_be_disabled()
        assert [*seen, *rows(page)] == [f"page {at}" for at in reversed(range(60))]
        expect(page).to_have_url(re.compile(r"page=3"))
        page.go_back()
        expect(place).to_have_text("26 – 50 of 60")
        page.select_option("#size", "100")
        expect(page.locator("#pager")).to_be_hidden()
        expect(page.locator("#runs-table tbody tr")).to_have_count(60)
    finally:
        client.ok("POST", "/api/run-batches", {"action": "delete", "runs": made})


def test_it_follows_what_happens(page: Page, studio: Served) -> None:
    run = studio.client.make_run(display_name="live one")
    row = page.locator(f"tr[data-id='{run['id']}']")
    expect(row).to_contain_text("Running")
    studio.client.end(run)
    expect(row).to_contain_text("Completed")
    page.get_by_label("Choose live one").check()
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(row).to_have_count(0)


def test_what_the_filter_finds_is_downloaded_and_chosen_runs_are_stopped(page: Page, studio: Served) -> None:
    client = studio.client
    made = [client.make_run(display_name=f"going {at}", tags={"for": "stopping"}) for at in range(3)]
    filtered(page, "tag.for=stopping")
    expect(page.locator("#runs-table tbody tr")).to_have_count(3)
    with page.expect_download() as waiting:
        page.get_by_role("link", name="CSV").click()
    head, *lines = waiting.value.path().read_text("utf-8").splitlines()
    assert "name" in head
    assert sorted(run["id"] for run in made) == sorted(line.split(",")[0] for line in lines)
    for at in (0, 2):
        page.get_by_label(f"Choose going {at}").check()
    page.get_by_role("button", name="Stop", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Stop", exact=True).click()
    expect(page.get_by_text("Stopping 2 runs.")).to_be_visible()
    found = [client.ok("GET", f"/api/runs/{run['id']}")["status"] for run in made]
    assert found[1] == "Running"
    assert "Running" not in (found[0], found[2])


def test_keys(page: Page) -> None:
    expect(page.locator("#runs-table tbody tr").first).to_be_visible()
    page.keyboard.press("?")
    expect(page.get_by_role("heading", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("heading", name="Keys")).to_be_hidden()
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(page.locator("#bulk-count")).to_have_text("1 chosen")
    page.keyboard.press("k")
    expect(page.locator("tbody tr").first).to_have_attribute("aria-current", "true")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_shuts_people_out(page: Page, axe: str, theme: str) -> None:
    page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
    expect(page.locator("#runs-table tbody tr").first).to_be_visible()
    assert breaches(page, axe) == []
    page.set_viewport_size(NARROW)  # type: ignore[arg-type]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert breaches(page, axe) == []
    for button in ("#views-button", "#columns-button"):
        page.click(button)
        expect(page.locator("#view-tools .popover:visible")).to_be_in_viewport(ratio=1)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), button
        page.keyboard.press("Escape")


def test_long_names_stay_in_their_column(page: Page, studio: Served) -> None:
    client = studio.client
    made = client.make_run(display_name="a sweep over everything that can be tried " * 2)
    child = client.make_run(kind="child", parent_id=made["id"])
    for run in (child, made):
        client.end(run)
    try:
        filtered(page, f"id:{made['id']}")
        expect(page.locator("#runs-table tbody tr")).to_have_count(1)
        assert crowded(page) == []
        page.set_viewport_size(NARROW)  # type: ignore[arg-type]
        assert crowded(page) == []
    finally:
        client.ok("POST", "/api/run-batches", {"action": "delete", "runs": [made["id"]]})


def test_a_server_that_goes_away_is_named(page: Page, page_errors: PageErrors) -> None:
    page_errors.allow("net::ERR", "Failed to fetch")
    page.route("**/api/**", lambda route: route.abort("connectionrefused"))
    page.route("**/health", lambda route: route.abort("connectionrefused"))
    filtered(page, "status:failed")
    expect(page.locator("#live-banner")).to_contain_text("The server does not answer")
    page.unroute("**/api/**")
    page.unroute("**/health")
    expect(page.locator("#live-banner")).to_be_hidden()
    expect(page.locator("#runs-table tbody tr")).to_have_count(2)
