"""If these fail, whoever watches over a service reads half a status, or a full disk ends the service."""

from __future__ import annotations

import json
from pathlib import Path

from runyard.serving.left_files import leave


def test_a_document_is_there_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "status.json"
    assert leave(str(path), {"a": 1})
    assert json.loads(path.read_text()) == {"a": 1}
    (tmp_path / "status.json.new").mkdir()  # nothing can be written beside it
    assert not leave(str(path), {"a": 2})
    assert json.loads(path.read_text()) == {"a": 1}
    (tmp_path / "status.json.new").rmdir()
    assert leave(str(path), {"a": 3})
    assert [each.name for each in tmp_path.iterdir()] == ["status.json"]
