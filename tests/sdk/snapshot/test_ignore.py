"""What an ignore file names does not travel, and one file rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from runyard.sdk.exceptions import SnapshotException
from runyard.sdk.snapshot.ignore import ignored_by


def test_amlignore_rules_alone(tmp_path: Path) -> None:
    (tmp_path / ".amlignore").write_text("data/\n")
    (tmp_path / ".gitignore").write_text("*.py\n")
    ignored = ignored_by(tmp_path)
    assert ignored("data/")
    assert not ignored("train.py")
    assert not ignored(".git/")


def test_gitignore_is_the_second_choice_and_keeps_git_out(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("# comment\n*.log\n!keep.log\n/top\n")
    ignored = ignored_by(tmp_path)
    assert ignored("a/b.log")
    assert not ignored("keep.log")
    assert ignored("top")
    assert not ignored("a/top")
    assert ignored(".git/")
    assert not ignored("my.git/")


def test_without_a_file_only_what_nobody_wants_stays_out(tmp_path: Path) -> None:
    ignored = ignored_by(tmp_path)
    assert [path for path in (".git/", "a/__pycache__/", ".ipynb_checkpoints/") if not ignored(path)] == []
    assert not any(ignored(path) for path in (".gitignore", "outputs/", ".git", "a.pyc"))


def test_an_empty_file_takes_everything(tmp_path: Path) -> None:
    (tmp_path / ".amlignore").write_text("\n# nothing\n")
    assert not ignored_by(tmp_path)(".git/")


def test_a_bad_pattern_is_named(tmp_path: Path) -> None:
    (tmp_path / ".amlignore").write_text("!\n")
    with pytest.raises(SnapshotException, match=r"\.amlignore"):
        ignored_by(tmp_path)
