"""What is handed over on one disk must be what was hashed, and nothing may be left behind or be taken twice."""

from __future__ import annotations

import hashlib
import io
import os
from pathlib import Path
from typing import Any

import pytest
from tests.sdk.snapshot.folders import unpack

from runyard.client.exchange import Connection
from runyard.sdk.snapshot import handover as handover_module
from runyard.sdk.snapshot import snapshot
from runyard.sdk.snapshot.handover import AT_ONCE, Handover
from runyard.sdk.workspace.workspace import Workspace


def handed(workspace: Workspace) -> list[str]:
    assert workspace.service.home is not None
    return os.listdir(workspace.service.home / "objects" / "handed")


def test_a_folder_is_stored_without_its_bytes_in_a_request(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for number in range(20):
        (source / f"{number}.bin").write_bytes(os.urandom(3000) if number else b"")
    (source / "twice.bin").write_bytes((source / "1.bin").read_bytes())
    sent: list[tuple[str, int]] = []
    plain = Connection.request

    def counted(self: Connection, method: str, target: str, body: Any, headers: Any) -> None:
        sent.append((target.rpartition("/")[0], len(body or b"")))
        plain(self, method, target, body, headers)

    monkeypatch.setattr(Connection, "request", counted)
    first = snapshot.take_snapshot(workspace.service, source)
    assert [place for place, _ in sent] == ["/api/snapshots", "/api/objects", "/api/snapshots"]
    assert sum(size for _, size in sent) < 20 * 300
    assert handed(workspace) == []
    back = unpack(workspace, first, tmp_path / "back")
    assert {path.name: path.read_bytes() for path in back.iterdir()} == {
        path.name: path.read_bytes() for path in source.iterdir()
    }


def test_an_unchanged_folder_copies_nothing(workspace: Workspace, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "a").write_bytes(os.urandom(100))
    os.utime(source / "a", (1, 1))
    first = snapshot.take_snapshot(workspace.service, source)
    assert snapshot.take_snapshot(workspace.service, source) == first
    assert handed(workspace) == []


def test_what_is_copied_has_the_hash_that_is_named_whatever_becomes_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "file"
    content = os.urandom(3 << 20)
    file.write_bytes(content)
    folder = tmp_path / "handed"
    folder.mkdir()
    with Handover(folder) as handover:
        with file.open("rb", buffering=0) as stream:
            digest, size = handover.take(stream)
        file.write_bytes(b"another")
        assert (digest, size) == (hashlib.sha256(content).hexdigest(), len(content))
        (copy,) = folder.iterdir()
        assert copy.name.endswith(f".{digest}")
        assert copy.read_bytes() == content
        assert copy.stat().st_nlink == 1
    assert list(folder.iterdir()) == [], "what no server has taken is removed"


def test_a_file_that_cannot_be_read_leaves_no_copy(tmp_path: Path) -> None:
    class Broken(io.BytesIO):
        def fileno(self) -> int:
            return -1

        def readinto(self, buffer: object) -> int:
            raise OSError(5, "Input/output error")

    with Handover(tmp_path) as handover:
        for _ in range(2):  # the second time it is known that the file system does not share bytes
            with pytest.raises(OSError, match="Input/output"):
                handover.take(Broken())
            assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("size", [0, 1, AT_ONCE - 1, AT_ONCE, AT_ONCE + 1, 3 * AT_ONCE])
def test_files_of_every_length_are_copied_whole_and_once(tmp_path: Path, size: int) -> None:
    content, folder = os.urandom(size), tmp_path / "handed"
    folder.mkdir()
    (tmp_path / "file").write_bytes(content)
    with Handover(folder) as handover:
        for _ in range(3):
            with open(tmp_path / "file", "rb", buffering=0) as file:
                assert handover.take(file) == (hashlib.sha256(content).hexdigest(), size)
            (copy,) = folder.iterdir()
            assert copy.read_bytes() == content
    assert list(folder.iterdir()) == []


def test_a_copy_that_cannot_be_written_is_not_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(copy: int, content: memoryview) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(handover_module, "_write", full)
    (tmp_path / "file").write_bytes(b"something")
    (tmp_path / "handed").mkdir()
    with Handover(tmp_path / "handed") as handover:
        for _ in range(2):
            with open(tmp_path / "file", "rb", buffering=0) as file, pytest.raises(OSError, match="No space"):
                handover.take(file)
            assert list((tmp_path / "handed").iterdir()) == []


def test_a_server_elsewhere_or_of_a_former_version_is_handed_nothing(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Handover.to(workspace.service) is not None
    for home in (None, tmp_path):
        monkeypatch.setattr(workspace.service, "home", home)
        assert Handover.to(workspace.service) is None


def test_a_disk_that_takes_no_copy_is_no_obstacle(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(copy: int, content: memoryview) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(handover_module, "_write", full)
    source = tmp_path / "source"
    source.mkdir()
    (source / "a").write_bytes(os.urandom(100))
    back = unpack(workspace, snapshot.take_snapshot(workspace.service, source), tmp_path / "back")
    assert (back / "a").read_bytes() == (source / "a").read_bytes()
    assert handed(workspace) == []
