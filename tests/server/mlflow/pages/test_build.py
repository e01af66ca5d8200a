"""The files of MLflow's pages in its wheel."""

from __future__ import annotations

from pathlib import Path

import pytest

from runyard.server.mlflow.pages import build


@pytest.mark.framework
def test_files_of_the_wheel_and_none_beside_them(wheel: Path) -> None:
    index = build.file("index.html")
    assert index is not None
    assert index.media_type == "text/html"
    assert b"static-files/" in index.content
    for name in ("", "static", "../../handlers.py", "static/../../../handlers.py", "/etc/passwd", "a\0b", "none.js"):
        assert build.file(name) is None, name


def test_the_skinny_client_has_no_pages() -> None:
    assert build.folder() is None
    assert build.file("index.html") is None
