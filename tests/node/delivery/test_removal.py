"""A delivered folder goes as a whole, whatever the script has done to it."""

from __future__ import annotations

import os
from pathlib import Path

from runyard.node.delivery.removal import remove


def test_a_folder_goes_with_all_that_is_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    (folder / "work" / "deep").mkdir(parents=True)
    (folder / "work" / "deep" / "a").write_text("x")
    os.chmod(folder / "work" / "deep", 0o500)
    (folder / "link").symlink_to(tmp_path)
    remove(folder)
    assert list(tmp_path.iterdir()) == []


def test_one_that_is_gone_already_is_no_error(tmp_path: Path) -> None:
    remove(tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


def test_its_name_is_free_at_once(tmp_path: Path) -> None:
    """The next attempt of the run may come to the same node before the last file is deleted."""
    folder = tmp_path / "run"
    folder.mkdir()
    remove(folder)
    folder.mkdir()
    assert list(tmp_path.iterdir()) == [folder]
