"""A child that its policy stops while somebody looks at the sweep: which one, after how much, and why."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support.filled_assets import ENDED
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from tests.server.studio.pages.conftest import Filled

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("studio-assets")]

TRIAL = """
import os, sys, time
from azureml.core import Run
gate, x = sys.argv[1], float(sys.argv[3])
run = Run.get_context()
while x > 0.5 and not os.path.exists(gate):
    time.sleep(0.05)
run.log("acc", x)
while x < 0.5:
    time.sleep(0.2)
    run.log("acc", x)
"""
WHY = re.compile(r"stopped at interval \d+: 0\.1, the best has 0\.9, allowed 0\.818182")


def test_why_a_child_was_stopped_comes_to_the_page_as_it_happens(
    filled: Filled, assets_page: Page, tmp_path: Path
) -> None:
    client, page, gate = filled.served.client, assets_page, tmp_path / "gate"
    asked = {
        "sampling": {"name": "GRID", "parameter_space": {"x": ["choice", [[0.9, 0.1]]]}},
        "policy": {"name": "Bandit", "properties": {"slack_factor": 0.1}},
        "metric": "acc",
        "goal": "maximize",
        "runs": 2,
        "at_once": 2,
    }
    command = shlex.join([sys.executable, "-c", TRIAL, str(gate)])
    sweep = client.make_run(kind="sweep", type="hyperdrive", launch={"command": command}, sweep=asked)["id"]
    filled.open(page, f"/studio/local/sweeps/{sweep}")
    falling = page.locator("#trials tr", has=page.get_by_role("link", name="child 1", exact=True))
    falling.locator("td:nth-child(3)", has_text="0.1").wait_for()  # what it has logged
    assert falling.get_by_role("cell").last.inner_text() == ""
    assert page.locator("#stopped-count").inner_text() == "0"

    gate.touch()
    falling.get_by_text(WHY).wait_for()
    wait_until(lambda: client.ok("GET", f"/api/runs/{sweep}")["status"] in ENDED, "the end of the sweep")
    falling.get_by_text("Canceled").wait_for()
    assert page.locator("#stopped-count").inner_text() == "1"
    assert page.get_by_text("by Bandit").is_visible()
    leading = page.locator("#trials tr.best")
    assert leading.get_by_role("link").inner_text() == "child 0"
    assert leading.get_by_role("cell").last.inner_text() == ""

    falling.get_by_role("link").click()
    page.get_by_text(re.compile(WHY.pattern, re.IGNORECASE)).locator("visible=true").first.wait_for()
