"""Runs beside one another in a real browser: what differs is seen, in curves, values, parameters and source."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.support.browser import NARROW, breaches, crowded, sign_in
from tests.support.rich_runs import TRAIN, rich

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page
    from tests.server.conftest import Served

TABS = ("curves", "table", "relations", "source")


@pytest.fixture(scope="module")
def runs(studio: Served) -> list[Any]:
    """Five runs with arguments of their own, and two versions of the source."""
    made = []
    for at, rate in enumerate((0.005, 0.01, 0.02, 0.04, 0.08)):
        source = TRAIN if at % 2 else TRAIN.replace("range(300)", "range(400)")
        run = rich(studio.client, rate=rate, name="same name" if at > 2 else f"run {at}", source=source)
        studio.client.end(run)
        made.append(run)
    return made


def opened(page: Page, runs: list[Any], rest: str = "") -> None:
    ids = ",".join(run["id"] for run in runs)
    page.goto(f"{page.url.partition('/studio')[0]}/studio/local/compare?runs={ids}{rest}")


def test_what_differs_is_seen(page: Page, runs: list[Any]) -> None:
    opened(page, runs)
    page.wait_for_selector("figure[data-drawn]")
    page.wait_for_function(
        "() => [...document.querySelectorAll('canvas')].some((each) => each.ariaLabel?.includes('run 0: 300 points'))"
    )
    legend = page.locator("figure").first.locator(".chart-legend-item").all_inner_texts()
    assert [text.strip() for text in legend[:3]] == ["run 0", "run 1", "run 2"]
    assert len(set(legend)) == 5, "runs of one name are told apart"
    page.get_by_role("button", name="run 1").first.click()
    assert page.get_by_role("button", name="run 1").first.get_attribute("aria-pressed") == "false"

    page.get_by_role("tab", name="What differs").click()
    page.get_by_label("Search rows").fill("train/accuracy")
    assert page.locator(".compare-table tbody td").count() == 5
    page.get_by_label("Search rows").fill("owner")
    assert page.locator(".compare-table").count() == 0
    page.get_by_role("button", name="Also what is the same").click()
    assert page.locator(".compare-table td").all_inner_texts() == ["me"] * 5

    page.get_by_role("tab", name="Parameters").click()
    page.wait_for_function("() => document.querySelectorAll('#panel-relations figure[data-drawn]').length >= 2")
    page.get_by_label("Across").select_option(label="train/loss")
    page.wait_for_function(
        "() => [...document.querySelectorAll('canvas')].some((each) => (each.ariaLabel ?? '').includes('5 points'))"
    )

    page.get_by_role("tab", name="Source").click()
    page.wait_for_selector(".diff-gone mark >> text=4")
    assert page.locator(".diff-come mark").inner_text() == "3"
    page.get_by_label("To", exact=True).select_option(runs[2]["id"])
    page.wait_for_selector("text=The source is the same")
    page.get_by_label("Leave out run 0").click()
    page.wait_for_function("() => document.querySelectorAll('.compared-run').length === 4")


@pytest.mark.parametrize("look", ["light", "dark", "narrow"])
def test_everybody_can_read_it(
    studio: Served, new_page: Callable[..., Page], runs: list[Any], axe: str, look: str
) -> None:
    how: dict[str, Any] = {"color_scheme": "dark" if look == "dark" else "light"}
    page = new_page(**how, **({"viewport": NARROW} if look == "narrow" else {}))
    sign_in(page, studio.client)
    opened(page, runs)
    page.wait_for_selector("figure[data-drawn]")
    for tab in TABS:
        page.locator(f"#tab-{tab}").click()
        page.wait_for_function("name => document.getElementById(`panel-${name}`).childElementCount", arg=tab)
        page.wait_for_load_state("networkidle")
        assert crowded(page) == [], tab
        if look == "narrow":
            assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"], tab
        else:
            assert breaches(page, axe) == [], tab


def test_without_runs_it_says_how_to_choose_them_and_names_one_that_is_not_there(
    page: Page, runs: list[Any], page_errors: Any
) -> None:
    opened(page, [])
    assert "runyard compare" in page.locator(".empty").inner_text()
    for at in (0, 1):
        page.get_by_role("checkbox", name=f"run {at}").check()
    page.get_by_role("button", name="Compare 2 runs").click()
    page.wait_for_selector("figure[data-drawn]")
    assert page.locator(".compared-run").count() == 2
    page_errors.allow("404")
    opened(page, [runs[0], {"id": "nosuch"}])
    page.wait_for_selector(".problem >> text=nosuch")


def test_parameters_that_matter(page: Page, studio: Served) -> None:
    """Of runs whose accuracy follows one argument and not the other, the one that matters comes first."""
    made = []
    for at in range(12):
        launch = {"script": "train.py", "arguments": ["--rate", str(at / 10), "--seed", str(at * 7 % 5)]}
        run = studio.stored_run(kind="script", launch=launch)
        line = b'["v","score",%f,0,0]\n["v","seed",%d,0,0]\n' % (at / 10 + (at % 3) / 100, at)
        studio.client.ok("POST", f"/api/runs/{run['id']}/journals/w?offset=0", body=line)
        made.append(run)
    opened(page, made, "#relations")
    page.wait_for_selector("figure:has(figcaption[title^='Importance']) canvas[aria-label*='2 bars']")
    label = page.locator("figure:has(figcaption[title^='Importance']) canvas.chart-canvas").get_attribute("aria-label")
    assert label is not None
    assert label.index("rate") < label.index("seed")
    shown = page.get_by_label("Across").locator("option").all_inner_texts()
    assert {"rate", "seed (parameter)", "seed (metric)"} <= set(shown), "values of one name are told apart"
