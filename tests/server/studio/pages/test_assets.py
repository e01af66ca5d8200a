"""The pages of what runs are given and leave, in a browser, over things that are real: a sweep, a service, data."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.conftest import link_sdk
from tests.server.conftest import Served, serve
from tests.support import filled_assets
from tests.support.browser import NARROW, breaches, sign_in
from tests.support.filled import EVIL
from tests.support.filled_assets import WS

from runyard.server.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Browser, Page
    from tests.support.browser import PageErrors

pytestmark = pytest.mark.slow

STUDIO = "/studio/local"


@dataclass(frozen=True)
class Filled:
    served: Served
    sweep: str
    model_run: str
    reader: str
    folder: Path

    def open(self, page: Page, path: str) -> None:
        page.goto(self.served.settings.url + path)


@pytest.fixture(scope="module")
def filled(
    tmp_path_factory: pytest.TempPathFactory, laid_sdk: Path, migrated_sqlite: Path, chromium: Browser
) -> Iterator[Filled]:
    place = tmp_path_factory.mktemp("assets")
    home, folder = place / "home", place / "data"
    home.mkdir(mode=0o700)
    folder.mkdir()
    link_sdk(home, laid_sdk)
    (home / "runyard.db").write_bytes(migrated_sqlite.read_bytes())
    with serve(Settings(home=home, token=secrets.token_hex(8), secret="s3cret")) as served:
        client = served.client
        sweep = filled_assets.sweep(client)
        model_run = filled_assets.model(client)
        reader = filled_assets.data(client, folder)
        filled_assets.environment(client)
        filled_assets.service(client)
        yield Filled(served, sweep, model_run, reader, folder)
        client.ok("DELETE", f"{WS}/services/adder")


@pytest.fixture
def page(filled: Filled, new_page: Callable[..., Page]) -> Page:
    made = new_page()
    sign_in(made, filled.served.client)
    return made


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
            too_wide = page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
            assert not too_wide, f"{path} {options}"


def test_a_sweep_shows_its_best_its_children_and_their_parameters(filled: Filled, page: Page) -> None:
    filled.open(page, f"{STUDIO}/sweeps")
    page.get_by_role("link", name=filled.sweep).click()
    page.locator("#trials tr").nth(5).wait_for()
    standing = filled.served.client.ok("GET", f"/api/runs/{filled.sweep}/sweep")
    (best,) = [each for each in standing["trials"] if each["run_id"] == standing["best"]]
    first = page.locator("#trials tr").first
    assert first.get_by_role("link").inner_text() == f"child {best['number']}"
    assert page.locator("#child-count").inner_text() == "6 of 6"
    assert page.locator("#trials-head th").all_inner_texts() == [
        "Child",
        "State",
        "acc",
        "x",
        "y",
        "Why it was stopped",
    ]
    for chart in ("progress", "curves", "parallel"):
        page.locator(f"#{chart}-chart canvas").first.wait_for()


def test_a_model_says_where_it_is_from_and_its_texts_stay_texts(filled: Filled, page: Page) -> None:
    filled.open(page, f"{STUDIO}/models")
    page.get_by_role("link", name="digits").click()
    page.get_by_text("none: it was registered from files").wait_for()
    page.get_by_role("link", name="version 1").click()
    page.get_by_role("link", name="the one that was registered").wait_for()
    assert EVIL.replace("\x07", "") in page.locator("main").inner_text().replace("\x07", "")
    with page.expect_download() as download:
        page.get_by_role("link", name="model.bin").click()
    assert download.value.path().read_bytes() == b"weights" * 1000


def test_a_service_is_tried_with_what_it_says_that_it_takes(filled: Filled, page: Page) -> None:
    filled.open(page, f"{STUDIO}/services/adder")
    page.get_by_text("An example of what it takes").wait_for()
    body = page.get_by_label("The request, as JSON")
    assert "1.5" in body.input_value()
    body.fill('{"data": [1, 2, 39]}')
    page.get_by_role("button", name="Send").click()
    page.get_by_text('"sum": 42').wait_for()
    assert page.locator("#trial-took").inner_text().startswith("200 after")
    body.fill("{")
    page.get_by_role("button", name="Send").click()
    page.get_by_text("This is no JSON").wait_for()
    page.get_by_text("the model is loaded").wait_for()
    page.wait_for_function("document.getElementById('requests').textContent.match(/^[1-9]/)")
    numbers = filled.served.client.ok("GET", f"{WS}/services/adder/numbers")["numbers"]
    assert numbers["requests"] >= 1
    assert numbers["errors"] == 0


def test_a_dataset_shows_its_files_and_who_read_it(filled: Filled, page: Page) -> None:
    filled.open(page, f"{STUDIO}/data/numbers")
    page.get_by_role("link", name="/<b>bold<b>.csv").wait_for()
    with page.expect_download() as download:
        page.get_by_role("link", name="/2.csv").click()
    assert download.value.path().read_text() == "a,b\n" * 3
    assert page.get_by_role("link", name="reader").get_attribute("href") == f"{STUDIO}/runs/{filled.reader}"


def test_compute_shows_who_has_the_nodes_and_why_others_wait(filled: Filled, page: Page) -> None:
    client = filled.served.client
    client.ok("POST", f"{WS}/compute", {"name": "one", "engine": "local", "max_nodes": 1})
    launch = {"command": "sleep 600"}
    runs = [client.make_run(kind="script", target="one", launch=launch, display_name=f"job {n}") for n in range(2)]
    try:
        filled.open(page, f"{STUDIO}/compute")
        page.locator("#going").get_by_role("link", name="job 0").wait_for()
        waiting = page.locator("#waiting").get_by_role("row").filter(has_text="job 1")
        waiting.wait_for()
        assert runs[0]["id"] in waiting.inner_text() or "one" in waiting.inner_text()
        page.locator("#targets").get_by_text(runs[0]["id"]).wait_for()
    finally:
        for each in runs:
            client.ok("POST", f"/api/runs/{each['id']}/cancel")


def test_the_server_says_how_it_stands(filled: Filled, page: Page) -> None:
    filled.open(page, "/studio/server")
    found: Any = filled.served.client.ok("GET", "/api/server/condition")
    assert page.locator(".checks li").count() == len(found["checks"])
    assert {each["name"] for each in found["checks"]} >= {"database can be used", "there is room on the disk"}


@pytest.mark.parametrize(
    "path", ["sweeps/none", "models/none", "services/none", "data/none", "datastores/none", "environments/none"]
)
def test_what_is_not_there_is_a_page_that_says_so(
    filled: Filled, page: Page, page_errors: PageErrors, path: str
) -> None:
    page_errors.allow("404")
    filled.open(page, f"{STUDIO}/{path}")
    assert "none" in page.locator("main").inner_text()
