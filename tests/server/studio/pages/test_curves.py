"""How the curves of a run are shown: axes, smoothing, outliers, a zoom of all charts, ranks. A chart that is saved as
a drawing says what it drew."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect
from tests.server.conftest import journal_lines
from tests.support.rich_runs import START

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page
    from tests.server.conftest import Served

POINTS = 300


@pytest.fixture(scope="module")
def run(studio: Served) -> Any:
    """One of two ranks, with a curve that has a single outlier, and another one to draw it over."""
    made = studio.client.make_run(display_name="curves")
    for rank in (0, 1):
        lines = journal_lines(
            *(["v", "loss", 1 + at % 7 if at != 150 else 5000, START + at * 60, at] for at in range(POINTS)),
            *(["v", "seen", at * 32, START + at * 60, at] for at in range(POINTS) if rank == 0),
        )
        studio.client.ok("POST", f"/api/runs/{made['id']}/journals/rank{rank}-w?offset=0", body=lines)
    studio.client.end(made)
    return made


def chart(page: Page, name: str) -> Locator:
    place = page.locator(f'figure:has(figcaption[title^="{name}"])')
    expect(place).to_have_attribute("data-drawn", re.compile("."))
    return place


def drawing(page: Page, name: str) -> str:
    figure = chart(page, name)
    figure.get_by_role("button", name="Save as PNG, SVG or CSV").click()
    with page.expect_download() as waiting:
        figure.get_by_role("button", name="SVG", exact=True).click()
    return waiting.value.path().read_text("utf-8")


def scale(drawing: str) -> list[str]:
    """The numbers beside the y axis."""
    return re.findall(r'<text [^>]*text-anchor="end"[^>]*>([0-9.]+)</text>', drawing)


def faint_lines(drawing: str) -> int:
    """Of the series: what belongs to the axes has no round joins."""
    return sum("opacity" in each for each in re.findall(r'<path [^>]*stroke-linejoin="round"[^>]*>', drawing))


def test_axes_smoothing_outliers_and_ranks(page: Page, run: Any) -> None:
    page.goto(f"{page.url.partition('/studio')[0]}/studio/local/runs/{run['id']}")
    canvas = chart(page, "loss").locator("canvas.chart-canvas")
    axis = page.get_by_label("X axis")
    for choice, said in (("time", "time"), ("metric:seen", "seen"), ("step", "step")):
        axis.focus()
        axis.select_option(choice)
        expect(canvas).to_have_attribute("aria-label", re.compile(f"over {said}", re.IGNORECASE))

    plain = drawing(page, "loss")
    page.get_by_role("button", name="Clip outliers").click()
    expect(page).to_have_url(re.compile("clip=1"))
    without = drawing(page, "loss")
    assert scale(plain)[-1] == "5000"
    assert scale(without) == list("1234567")
    page.get_by_role("button", name="Clip outliers").click()

    page.get_by_label("Smoothing").fill("0.9")
    expect(page).to_have_url(re.compile(r"smooth=0\.9"))
    smooth = drawing(page, "loss")
    assert faint_lines(plain) == 0
    assert faint_lines(smooth) == 1, "the line as it is stays, below the smooth one"

    page.get_by_role("button", name="By rank").click()
    legend = chart(page, "loss").locator(".chart-legend-item")
    expect(legend).to_have_text([re.compile("rank 0"), re.compile("rank 1")])


def test_all_charts_are_zoomed_at_once(page: Page, run: Any) -> None:
    page.goto(f"{page.url.partition('/studio')[0]}/studio/local/runs/{run['id']}")
    others = chart(page, "seen").get_by_role("button", name="Show everything again")
    expect(others).to_be_hidden()
    one = chart(page, "loss").locator("canvas.chart-canvas")
    one.focus()
    one.press("+")
    expect(others).to_be_visible()
    others.click()
    expect(chart(page, "loss").get_by_role("button", name="Show everything again")).to_be_hidden()
