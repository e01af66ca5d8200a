"""A run gets the folder as it was: every name, link and bit, and only what the server lacks travels."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.sdk.snapshot.folders import unpack

from runyard.contracts import pack
from runyard.sdk.exceptions import SnapshotException
from runyard.sdk.snapshot import snapshot
from runyard.sdk.workspace.workspace import Workspace


@pytest.fixture
def remote(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """The workspace as a client on another machine has it: it shares no disk with the server."""
    monkeypatch.setattr(workspace.service, "home", None)
    return workspace


class Counting:
    """A service that remembers what it was asked."""

    def __init__(self, workspace: Workspace) -> None:
        self._service = workspace.service
        self.home = workspace.service.home
        self.asked: list[tuple[str, str, int]] = []

    def put(self, path: str, value: Any = None, **options: Any) -> Any:
        self.asked.append(("PUT", path, len(options.get("body") or b"")))
        return self._service.put(path, value, **options)

    def post(self, path: str, value: Any = None, **options: Any) -> Any:
        self.asked.append(
            ("POST", path, len(options["body"]) if isinstance(options["body"], bytes) else options["length"])
        )
        return self._service.post(path, value, **options)


def test_only_what_is_new_travels(remote: Workspace, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for number in range(20):
        (source / f"{number}.bin").write_bytes(os.urandom(1000))
    service = Counting(remote)
    first = snapshot.take_snapshot(service, source)  # type: ignore[arg-type]
    assert [method for method, _, _ in service.asked] == ["PUT", "PUT", "POST", "PUT"]
    service.asked.clear()
    assert snapshot.take_snapshot(service, source) == first  # type: ignore[arg-type]
    assert service.asked == [("PUT", f"/api/snapshots/{first}", 0)]
    service.asked.clear()
    (source / "new.bin").write_bytes(os.urandom(500))
    assert snapshot.take_snapshot(service, source) != first  # type: ignore[arg-type]
    assert sum(size for method, _, size in service.asked if method == "POST") < 700


def test_a_file_larger_than_a_pack_is_streamed(
    remote: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot, "PACK_BYTES", 1000)
    source = tmp_path / "source"
    source.mkdir()
    (source / "large").write_bytes(os.urandom(3_000_000))
    (source / "small").write_bytes(b"x")
    back = unpack(remote, snapshot.take_snapshot(remote.service, source), tmp_path / "back")
    assert (back / "large").read_bytes() == (source / "large").read_bytes()


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read everything")
def test_a_file_that_cannot_be_read_is_named_with_the_way_out(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    (tmp_path / "secret").chmod(0)
    with pytest.raises(SnapshotException, match=r"secret.*\.amlignore"):
        snapshot.take_snapshot(workspace.service, tmp_path)


def test_an_unreadable_file_is_named_with_the_way_out(
    remote: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same for root, who cannot be refused by a file's mode: the disk refuses."""

    def refuse(stream: object) -> None:
        raise PermissionError(13, "Permission denied")

    (tmp_path / "secret").write_text("x")
    monkeypatch.setattr(pack, "digest_of", refuse)
    with pytest.raises(SnapshotException, match=r"secret.*\.amlignore"):
        snapshot.take_snapshot(remote.service, tmp_path)


def test_a_file_that_changes_while_it_is_read_is_caught_whole(workspace: Workspace, tmp_path: Path) -> None:
    """Each line that a writer appends is of one length: a mixture of two states would show."""
    source = tmp_path / "source"
    source.mkdir()
    growing = source / "log.txt"
    growing.write_bytes(b"0123456789" * 1000)
    stop = threading.Event()

    def write() -> None:
        with growing.open("ab", buffering=0) as file:
            while not stop.is_set():
                file.write(b"0123456789")

    writer = threading.Thread(target=write)
    writer.start()
    try:
        snapshot_id = snapshot.take_snapshot(workspace.service, source)
    finally:
        stop.set()
        writer.join()
    back = unpack(workspace, snapshot_id, tmp_path / "back")
    content = (back / "log.txt").read_bytes()
    assert len(content) >= 10_000
    assert growing.read_bytes().startswith(content)


def test_content_that_changed_after_it_was_hashed_is_hashed_again(
    remote: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "a").write_bytes(os.urandom(100))
    send = snapshot._send
    new = os.urandom(100)

    def change_first(*arguments: Any) -> None:
        if (source / "a").read_bytes() != new:
            (source / "a").write_bytes(new)
        send(*arguments)

    monkeypatch.setattr(snapshot, "_send", change_first)
    back = unpack(remote, snapshot.take_snapshot(remote.service, source), tmp_path / "back")
    assert (back / "a").read_bytes() == new


def test_a_large_folder_is_sent_with_a_word_about_its_largest_parts(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(snapshot, "LARGE", 1000)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "big").write_bytes(b"x" * 2000)
    assert snapshot.take_snapshot(workspace.service, tmp_path)
    assert "data/" in caplog.text
    assert ".amlignore" in caplog.text


def test_nothing_there_is_said(workspace: Workspace, tmp_path: Path) -> None:
    with pytest.raises(SnapshotException, match="nothing at"):
        snapshot.take_snapshot(workspace.service, tmp_path / "nowhere")
