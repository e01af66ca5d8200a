"""A browser that measures how long pages take until what a reader waits for is drawn."""

from __future__ import annotations

import contextlib
import gzip
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.measure import Conversation, Failed
from benchmarks.studio.sites import Site

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

CHROMIUM = "/usr/bin/chromium"
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking")
SIZE: Any = {"width": 1280, "height": 800}
PATIENCE = 120_000
APART = 0.7
"""Seconds between two points that are logged, as between the steps of a training."""

SCRIPTS = """() => performance.getEntriesByType("resource").map((each) => each.name)
  .filter((each) => new URL(each).pathname.endsWith(".js"))"""


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    from playwright.sync_api import Error, sync_playwright

    if not Path(CHROMIUM).exists():
        raise Failed(f"there is no {CHROMIUM}")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        try:
            yield browser
        except Error as error:
            raise Failed(error.message.partition("\n")[0]) from error
        finally:
            browser.close()


class Reader:
    """Somebody who looks at one of the sites. `entry` is what lets a browser in, where something must."""

    def __init__(self, browser: Browser, site: Site, entry: str | None) -> None:
        self._browser, self._site = browser, site
        self._cookies: Any = []
        if entry is not None:
            page = self._page()
            page.goto(entry)
            page.wait_for_url("**/studio/*/runs**")
            self._cookies = page.context.cookies()
            page.context.close()

    def first_page(self, newest: str) -> float:
        """With nothing in the browser's cache."""
        page = self._page()
        with contextlib.closing(page.context):
            return _until(page, self._site.runs, self._site.table, newest)

    def bytes_of_script(self, newest: str) -> int:
        """All scripts of the first page, each compressed by gzip, whether the server does so or not."""
        page = self._page()
        with contextlib.closing(page.context):
            _until(page, self._site.runs, self._site.table, newest)
            page.wait_for_load_state("load")
            return sum(_packed(url) for url in page.evaluate(SCRIPTS))

    def again(self, path: str, condition: str, value: object, rounds: int) -> list[float]:
        """With the scripts in the browser's cache."""
        page = self._page()
        with contextlib.closing(page.context):
            return [_until(page, path, condition, value) for _ in range(rounds + 1)][1:]

    def filtered(self, newest: str, bound: float, found: str, rounds: int) -> list[float]:
        """From the key that applies a filter until its first run is on top."""
        return [self._filtered(newest, bound, found) for _ in range(rounds)]

    def _filtered(self, newest: str, bound: float, found: str) -> float:
        page = self._page()  # a new one each time: MLflow's keeps the filter for the next visit
        with contextlib.closing(page.context):
            _until(page, self._site.runs, self._site.table, newest)
            field = page.locator(self._site.search).first
            field.fill(self._site.question(bound))
            began = time.perf_counter()
            field.press("Enter")
            page.wait_for_function(self._site.table, arg=found, polling="raf")
            return time.perf_counter() - began

    def live(self, logger: Conversation, samples: int, patience: float) -> list[float]:
        """From a call that logs a point, in another process, until the chart has it."""
        run, page, taken = logger.answer()["run"], self._page(), []
        with contextlib.closing(page.context):
            _until(page, self._site.run(run), self._site.value, 0)
            page.set_default_timeout(patience * 1000)
            for number in range(1, samples + 1):
                time.sleep(APART)
                began = logger.ask(number)["at"]
                page.wait_for_function(self._site.value, arg=number, polling="raf")
                taken.append(time.time() - began)
        return taken

    def _page(self) -> Page:
        context: BrowserContext = self._browser.new_context(viewport=SIZE)
        context.add_cookies(self._cookies)
        context.set_default_timeout(PATIENCE)
        return context.new_page()


def _until(page: Page, path: str, condition: str, value: object) -> float:
    page.goto("about:blank")
    began = time.perf_counter()
    page.goto(path, wait_until="commit")
    page.wait_for_function(condition, arg=value, polling="raf")
    return time.perf_counter() - began


def _packed(url: str) -> int:
    with urllib.request.urlopen(url, timeout=30) as answer:
        return len(gzip.compress(answer.read(), 9))
