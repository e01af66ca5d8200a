"""The cache of hashes saves reading files again, and never changes what a snapshot holds."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.sdk.snapshot.folders import entries
from tests.support.bad_json import every_bad_text

from runyard.contracts import pack
from runyard.sdk.snapshot import hashes as snapshot_hashes
from runyard.sdk.snapshot.hashes import Known


@pytest.mark.parametrize("mark", ["7", "null", "[]", "{}", '"text"', "SAME", "[SAME]"])
def test_a_cache_that_was_damaged_changes_no_snapshot(tmp_path: Path, mark: str) -> None:
    folder, cache = tmp_path / "folder", tmp_path / "cache"
    folder.mkdir()
    (folder / "a").write_text("content")
    good = entries(folder, cache)
    found = (folder / "a").stat()
    same = f"[{found.st_size}, {found.st_mtime_ns}, {found.st_ctime_ns}, {found.st_ino}"
    text = mark.replace("[SAME]", f'{same}, "no digest"]').replace("SAME", f"{same}]")
    cache.mkdir(exist_ok=True)
    Known(cache, folder)._file.write_text(f'{{"a": {text}}}')
    assert entries(folder, cache) == good


@every_bad_text
def test_a_cache_of_something_else_is_an_empty_one(tmp_path: Path, text: bytes) -> None:
    folder, cache = tmp_path / "folder", tmp_path / "cache"
    folder.mkdir()
    (folder / "pid").write_text("content")
    good = entries(folder, cache)
    cache.mkdir(exist_ok=True)
    Known(cache, folder)._file.write_bytes(text)
    assert entries(folder, cache) == good


def test_an_unchanged_file_is_not_read_again_but_a_young_one_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, cache = tmp_path / "source", tmp_path / "cache"
    source.mkdir()
    (source / "a").write_text("first")
    before = entries(source, cache)["a"].digest
    # Written again within the clock's last seconds, with the same size and time: only reading can tell.
    status = (source / "a").stat()
    (source / "a").write_text("other")
    os.utime(source / "a", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert entries(source, cache)["a"].digest != before
    monkeypatch.setattr(snapshot_hashes, "TRUST_AFTER_NS", -1)
    known = entries(source, cache)
    monkeypatch.setattr(pack, "digest_of", lambda stream: pytest.fail("it was read again"))
    assert entries(source, cache) == known


def test_a_damaged_cache_is_an_empty_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot_hashes, "TRUST_AFTER_NS", -1)
    source, cache = tmp_path / "source", tmp_path / "cache"
    source.mkdir()
    (source / "a").write_text("x")
    first = entries(source, cache)
    for file in cache.iterdir():
        file.write_text("{")
    assert entries(source, cache) == first
