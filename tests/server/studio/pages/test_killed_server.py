"""A server that is killed, and started again: pages that are open say so, and go on by themselves."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect
from tests.server.conftest import Client
from tests.support.browser import sign_in
from tests.support.filled import log_curves
from tests.support.waiting import wait_until

from runyard.contracts.home import read_server, read_token

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from tests.support.browser import PageErrors

pytestmark = pytest.mark.slow


class Process:
    """A server of its own home, which is killed and started again under the same address."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> Client:
        assert self.process is None
        before = read_server(self.home)
        environment = {**os.environ, "RUNYARD_HOME": str(self.home)}
        self.process = subprocess.Popen([sys.executable, "-m", "runyard.server"], env=environment)

        def answers() -> bool:
            found = read_server(self.home)
            return found is not None and self.process is not None and found.pid == self.process.pid

        wait_until(answers, "the server to start")
        found = read_server(self.home)
        assert found is not None
        assert before is None or before.url == found.url, "the address is kept"
        return Client(found.url, read_token(self.home))

    def kill(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process = None


@pytest.fixture
def server(tmp_path: Path, migrated_sqlite: Path) -> Iterator[Process]:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    shutil.copy(migrated_sqlite, home / "runyard.db")
    found = Process(home)
    yield found
    if found.process is not None:
        found.process.terminate()
        found.process.wait()


def test_pages_say_so_and_go_on(server: Process, new_page: Callable[..., Page], page_errors: PageErrors) -> None:
    page_errors.allow("net::ERR")
    client = server.start()
    run = client.make_run(display_name="goes on")
    offset = log_curves(client, run, points=20, rate=0.1)
    table, one = new_page(), new_page()
    for page in (table, one):
        sign_in(page, client)
    one.goto(f"{client.url}/studio/local/runs/{run['id']}")
    one.locator("canvas[aria-label*='20 points']").first.wait_for()
    server.kill()
    for page in (table, one):
        expect(page.locator("#live-banner")).to_contain_text("The server does not answer")
    client = server.start()
    log_curves(client, run, points=5, rate=0.1, offset=offset)
    other = client.make_run(display_name="made later")
    for page in (table, one):
        expect(page.locator("#live-banner")).to_be_hidden()
    expect(table.locator(f"tr[data-id='{other['id']}']")).to_contain_text("made later")
    one.locator("canvas[aria-label*='25 points']").first.wait_for()
    client.end(run)
    expect(table.locator(f"tr[data-id='{run['id']}']")).to_contain_text("Completed")
    expect(one.locator("#account")).to_contain_text("Completed")
    client.end(other)
