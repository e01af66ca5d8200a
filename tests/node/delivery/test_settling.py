"""A folder that settles tells apart what is done, what is left for good and what is tried again, wherever it goes."""

from __future__ import annotations

from pathlib import Path

import pytest

from runyard.node.delivery import settling
from runyard.node.delivery.settling import FileChanged, SettlingFolder, pieces


class Taken(SettlingFolder):
    """Files that go nowhere: `later` are never taken."""

    def __init__(self, folder: Path, later: tuple[str, ...] = ()) -> None:
        super().__init__(folder, "out")
        self.sent: list[str] = []
        self.later = later

    def _send(self, relatives: list[str]) -> None:
        for each in relatives:
            self.sent.append(each)
            look = self._look(each)
            if each not in self.later and look is not None:
                self._done(each, look)


def test_a_file_is_sent_once_and_again_when_it_has_changed(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"1")
    folder = Taken(tmp_path)
    folder.upload_all()
    folder.upload_all()
    assert folder.sent == ["a"]
    (tmp_path / "a").write_bytes(b"22")
    folder.upload_all()
    assert folder.sent == ["a", "a"]
    assert folder.warnings == []


def test_what_is_never_taken_is_said(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"1")
    folder = Taken(tmp_path, later=("a",))
    folder.upload_all()
    assert folder.warnings == ["out/a was not kept: it changed whenever it was sent."]


def test_only_what_has_settled_is_sent_while_the_script_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settling, "SETTLED_AFTER", 0.0)
    folder = Taken(tmp_path)
    assert folder.empty()
    (tmp_path / "a").write_bytes(b"1")
    folder.upload_settled()
    assert folder.sent == [], "it was seen only once"
    folder.upload_settled()
    assert folder.sent == ["a"]


def test_a_file_that_got_shorter_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"123")
    assert b"".join(pieces(tmp_path / "a", 2)) == b"12"
    with pytest.raises(FileChanged):
        list(pieces(tmp_path / "a", 4))
    with pytest.raises(FileChanged):
        list(pieces(tmp_path / "gone", 1))
