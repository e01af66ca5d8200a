"""One server for the pages of what runs are given and leave, with a real sweep, a real service, models and data."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.conftest import link_sdk
from tests.server.conftest import Served, serve
from tests.support import filled_assets
from tests.support.browser import sign_in
from tests.support.filled_assets import WS

from runyard.server.settings import Settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@dataclass(frozen=True)
class Filled:
    served: Served
    sweep: str
    model_run: str
    reader: str
    folder: Path

    def open(self, page: Page, path: str) -> None:
        page.goto(self.served.settings.url + path)


@pytest.fixture(scope="session")
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
def assets_page(filled: Filled, new_page: Callable[..., Page]) -> Page:
    made = new_page()
    sign_in(made, filled.served.client)
    return made
