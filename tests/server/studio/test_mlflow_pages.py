"""The files of MLflow's pages in its wheel, and the link to them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runyard.server.studio import mlflow_pages

if TYPE_CHECKING:
    from tests.server.conftest import Client


@pytest.mark.framework
def test_files_of_the_wheel_and_none_beside_them(mlflow_wheel: Path) -> None:
    index = mlflow_pages.file("index.html")
    assert index is not None
    assert index.media_type == "text/html"
    assert b"static-files/" in index.content
    for name in ("", "static", "../../handlers.py", "static/../../../handlers.py", "/etc/passwd", "a\0b", "none.js"):
        assert mlflow_pages.file(name) is None, name


def test_the_skinny_client_has_no_pages() -> None:
    assert mlflow_pages.folder() is None
    assert mlflow_pages.file("index.html") is None


LINK = b'<a href="/mlflow/local/">MLflow</a>'


def test_without_them_nothing_leads_there(here: Client, signed_in: Callable[[Client], Client]) -> None:
    page = signed_in(here).get("/studio/local/runs")
    assert page.status == 200
    assert LINK not in page.body


@pytest.mark.framework
def test_every_page_leads_to_them_where_they_are(
    here: Client, signed_in: Callable[[Client], Client], mlflow_wheel: Path
) -> None:
    browser = signed_in(here)
    for path in ("/studio/local/runs", "/studio/server"):
        assert LINK in browser.get(path).body
    assert browser.get("/mlflow/local/").status == 200
