"""A real browser for the tests of pages: Chromium, driven by playwright.

`studio` is a server of a module, with the workspace that `tests.support.filled` makes. `page` is signed in to it, and
fails its test on whatever a reader of the browser's console would see: an error, a breach of the content policy, a
request to another host, a request that was refused. A test that provokes one of those says so with `page_errors`.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from tests.support import frameworks

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page
    from tests.server.conftest import Client, Served

CHROMIUM = "/usr/bin/chromium"
ARGUMENTS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)
PATIENCE = 20_000
"""Milliseconds that the browser waits for what a test expects."""

WIDE, NARROW = {"width": 1280, "height": 800}, {"width": 375, "height": 740}

AXE_VERSION = "4.10.3"


class PageErrors(list[str]):
    """What went wrong in the browser. `allowed` are parts of texts that are no failure in this test."""

    def __init__(self) -> None:
        super().__init__()
        self.allowed: list[str] = []

    def allow(self, *parts: str) -> None:
        self.allowed.extend(parts)

    @property
    def left(self) -> list[str]:
        return [each for each in self if not any(part in each for part in self.allowed)]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """One browser per worker."""
    with _browser() as browser:
        yield browser


@contextmanager
def _browser() -> Iterator[Browser]:
    if not Path(CHROMIUM).exists():
        pytest.skip(f"Chromium is not installed: there is no {CHROMIUM}")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        loop = asyncio._get_running_loop()
        try:
            yield browser
        finally:
            asyncio._set_running_loop(loop)
            browser.close()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Playwright's event loop counts as running in this thread for as long as the browser is open: a test that knows
    nothing of it, and runs a loop of its own, must not see it."""
    loop = None if "chromium" in getattr(item, "fixturenames", ()) else asyncio._get_running_loop()
    if loop is None:
        return (yield)
    asyncio._set_running_loop(None)
    try:
        return (yield)
    finally:
        if loop.is_running():
            asyncio._set_running_loop(loop)


@pytest.fixture(scope="module")
def studio(
    tmp_path_factory: pytest.TempPathFactory, laid_sdk: Path, migrated_sqlite: Path, chromium: Browser
) -> Iterator[Served]:
    """A server with the runs of `filled`, for the tests of one module."""
    from tests.conftest import link_sdk
    from tests.server.conftest import serve
    from tests.support import filled

    from runyard.server.settings import Settings

    home = tmp_path_factory.mktemp("studio") / "home"
    home.mkdir(mode=0o700)
    link_sdk(home, laid_sdk)
    shutil.copy(migrated_sqlite, home / "runyard.db")
    with serve(Settings(home=home, token=secrets.token_hex(8), secret="s3cret")) as served:
        filled.fill(served.client)
        yield served


@pytest.fixture
def page_errors() -> PageErrors:
    return PageErrors()


@pytest.fixture
def new_page(chromium: Browser, page_errors: PageErrors) -> Iterator[Callable[..., Page]]:
    """Opens pages, each with cookies of its own; what goes wrong in any of them fails the test."""
    contexts: list[BrowserContext] = []

    def make(**options: Any) -> Page:
        context = chromium.new_context(**{"viewport": WIDE, "reduced_motion": "reduce", **options})
        contexts.append(context)
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        watch(page, page_errors)
        return page

    yield make
    for context in contexts:
        context.close()
    assert not page_errors.left, "in the browser: " + "; ".join(page_errors.left)


@pytest.fixture
def page(studio: Served, new_page: Callable[..., Page]) -> Page:
    """A page of a browser that is signed in to `studio`."""
    made = new_page()
    sign_in(made, studio.client)
    return made


def sign_in(page: Page, client: Client) -> None:
    """Open the link that `runyard studio` prints, and wait for the page that it leads to."""
    link = client.ok("POST", "/api/studio/links")["url"]
    page.goto(link)
    page.wait_for_url("**/studio/*/runs**")


def watch(page: Page, errors: PageErrors) -> None:
    """Note whatever goes wrong in a page."""

    def said(message: Any) -> None:
        if message.type in ("error", "warning"):
            errors.append(f"console: {message.text} ({message.location.get('url', '')})")

    def asked(request: Any) -> None:
        parts = urlsplit(request.url)
        if parts.scheme in ("http", "https", "ws", "wss") and parts.hostname != "127.0.0.1":
            errors.append(f"request to another host: {request.url}")

    page.on("console", said)
    page.on("pageerror", lambda error: errors.append(f"script: {error}"))
    page.on("request", asked)


@pytest.fixture(scope="session")
def axe() -> str:
    """The source of axe-core, from npm."""
    found = os.environ.get("RUNYARD_TEST_AXE")
    folder = Path(found) if found else _fetched_axe()
    return (folder / "axe.min.js").read_text("utf-8")


def _fetched_axe() -> Path:
    folder = frameworks.root() / f"axe-core-{AXE_VERSION}"
    if not folder.exists():
        npm = shutil.which("npm")
        if npm is None:
            pytest.skip("axe-core is not here, and npm, which fetches it, is not installed")
        folder.parent.mkdir(parents=True, exist_ok=True)
        new = Path(tempfile.mkdtemp(dir=folder.parent))
        command = [npm, "install", "--no-audit", "--no-fund", "--prefix", str(new), f"axe-core@{AXE_VERSION}"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        if done.returncode:
            shutil.rmtree(new, ignore_errors=True)
            pytest.skip(f"npm cannot fetch axe-core: {done.stderr.strip()[-200:]}")
        try:
            new.rename(folder)
        except OSError:  # another worker was first
            shutil.rmtree(new)
    return folder / "node_modules" / "axe-core"


CROWDED = """() => [...document.querySelectorAll("td, th")].filter((cell) => cell.checkVisibility()).filter((cell) => {
    const text = cell.innerText.trim();
    const right = cell.getBoundingClientRect().right;
    const range = document.createRange();
    range.selectNodeContents(cell);
    const hangs = getComputedStyle(cell).overflowX === "visible"
        && [...cell.querySelectorAll("*")].some((each) => each.getBoundingClientRect().right > right + 1);
    const lines = new Set([...range.getClientRects()].map((each) => Math.round(each.top))).size;
    return hangs || lines > Math.max(2, text.length / 3);
}).map((cell) => cell.innerText)"""


def crowded(page: Page) -> list[str]:
    """The texts of those cells of tables that hang out over the next one, or have room for some letters in a line."""
    found: list[str] = page.evaluate(CROWDED)
    return found


def breaches(page: Page, axe: str) -> list[str]:
    """What axe-core finds serious or critical on a page as it is now."""
    if page.evaluate("typeof window.axe") == "undefined":
        page.evaluate(axe)  # through the debugger, which no content policy stops
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{each['id']} ({each['impact']}): {each['nodes'][0]['target']} {each['nodes'][0]['failureSummary']}"
        for each in found["violations"]
        if each["impact"] in ("serious", "critical")
    ]
