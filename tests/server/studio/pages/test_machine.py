"""What was observed of a run, on its page: the curve of its memory, and the scalars of event files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.support.browser import NARROW, breaches, sign_in
from tests.support.filled import EVIL

from runyard.contracts.journal import EVENTS, SYSTEM, line, node_writer
from runyard.contracts.observed import load

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page
    from tests.server.studio.pages.conftest import Filled

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("studio-assets")]


def observed(filled: Filled) -> str:
    """A run over two nodes that was killed when its memory was full, and wrote event files."""
    client = filled.served.client
    run = client.make_run(display_name="out of memory")
    for node in (0, 1):
        lines = b"".join(
            line("o", SYSTEM, 1.7e9 + second, None, {load.MEMORY_RUN: second * 1e9 * (2 - node), load.CPU_RUN: 1.0})
            for second in range(9)
        )
        limit = line("o", SYSTEM, 1.7e9, None, {load.MEMORY_LIMIT: 16e9, load.CORES: 4})
        writer = node_writer(node, "system-1")
        client.ok("POST", f"/api/runs/{run['id']}/journals/{writer}?offset=0", body=limit + lines)
    scalars = [{"f": "nan"}, 0.5, {"f": "inf"}, 0.25]
    events = b"".join(line("o", EVENTS, 1.7e9, step, {"train/loss": value}) for step, value in enumerate(scalars))
    events += line("o", EVENTS, 1.7e9, 0, {EVIL: 1.0})
    client.ok("POST", f"/api/runs/{run['id']}/journals/events-1?offset=0", body=events)
    client.end(run, "failed", error={"code": "UserError", "message": "killed by SIGKILL: likely out of memory"})
    return str(run["id"])


def test_the_machine_of_a_run(filled: Filled, assets_page: Page, new_page: Callable[..., Page], axe: str) -> None:
    run_id = observed(filled)
    page = assets_page
    filled.open(page, f"/studio/local/runs/{run_id}")
    page.get_by_role("heading", name="From event files").wait_for()
    page.get_by_text("Its script has logged none").wait_for()
    page.get_by_role("figure", name="train/loss").wait_for()
    page.get_by_role("tab", name="Machine").click()
    page.get_by_role("figure", name="Memory (GB)").wait_for()
    for name in ("run, node 0", "run, node 1"):
        page.get_by_role("figure", name="Memory (GB)").get_by_text(name).first.wait_for()
    tile = page.locator(".machine-tile").filter(has_text="Most memory")
    assert tile.locator(".machine-figure").inner_text() == "16.0 GB"
    assert breaches(page, axe) == []
    narrow = new_page(viewport=NARROW, color_scheme="dark")
    sign_in(narrow, filled.served.client)
    filled.open(narrow, f"/studio/local/runs/{run_id}#machine")
    narrow.get_by_role("figure", name="Memory (GB)").wait_for()
    assert not narrow.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")


def test_a_run_of_which_nothing_was_recorded(filled: Filled, assets_page: Page) -> None:
    run = filled.served.client.make_run()
    filled.served.client.end(run)
    filled.open(assets_page, f"/studio/local/runs/{run['id']}#machine")
    assets_page.get_by_text("Nothing is recorded").wait_for()
