"""Uploads through the server: what has come stays, what is abandoned goes, and two senders do not mix."""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from runyard.server.data.staging import KEPT, Staged
from runyard.server.middleware.problems import Problem
from runyard.store.errors import DiskFull


async def pieces(*content: bytes, then: type[Exception] | None = None) -> AsyncIterator[bytes]:
    for piece in content:
        yield piece
    if then is not None:
        raise then


def receive(staged: Staged, offset: int, *content: bytes, then: type[Exception] | None = None) -> int:
    return asyncio.run(staged.receive(pieces(*content, then=then), offset))


def test_a_broken_upload_goes_on(tmp_path: Path) -> None:
    staged = Staged(tmp_path, "local", "mine", "a/b", "upload-1")
    assert staged.size == 0
    with pytest.raises(ConnectionError):
        receive(staged, 0, b"0123", then=ConnectionError)
    assert Staged(tmp_path, "local", "mine", "a/b", "upload-1").size == 4
    with pytest.raises(Problem, match="begin at 9"):
        receive(staged, 9, b"x")
    assert receive(staged, 3, b"x", b"yz") == 6, "from a place before the end, what follows is sent again"
    assert staged.path.read_bytes() == b"012xyz"
    assert Staged(tmp_path, "local", "mine", "a/c", "upload-1").size == 0, "another file is another upload"


def test_two_senders_of_one_file_do_not_mix(tmp_path: Path) -> None:
    staged = Staged(tmp_path, "local", "mine", "a", "upload-1")

    async def inner() -> AsyncIterator[bytes]:
        yield b"first"
        with pytest.raises(Problem, match="Somebody else"):
            await staged.receive(pieces(b"second"), 0)

    asyncio.run(staged.receive(inner(), 0))
    assert staged.path.read_bytes() == b"first"


def test_what_nobody_comes_back_for_is_removed(tmp_path: Path) -> None:
    old = Staged(tmp_path, "local", "mine", "old", "upload-1")
    receive(old, 0, b"x")
    os.utime(old.path, (0, 0))
    kept = Staged(tmp_path, "local", "mine", "kept", "upload-2")
    receive(kept, 0, b"x")
    assert KEPT > 0
    assert [each.name for each in kept.path.parent.iterdir()] == [kept.path.name]


def test_a_full_disk_is_said_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    staged = Staged(tmp_path, "local", "mine", "a", "upload-1")

    def full(descriptor: int, data: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(DiskFull):
        receive(staged, 0, b"x")
    assert not staged.path.exists()
