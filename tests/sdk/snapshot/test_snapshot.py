"""A run gets the folder as it was: every name, link and bit, and only what the server lacks travels."""

from __future__ import annotations

import os
import socket
import stat
import threading
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.bad_json import every_bad_text

from runyard.contracts import manifest, pack
from runyard.sdk.exceptions import SnapshotException
from runyard.sdk.snapshot import hashes as snapshot_hashes
from runyard.sdk.snapshot import snapshot
from runyard.sdk.snapshot.hashes import Hashes, Known
from runyard.sdk.snapshot.ignore import ignored_by
from runyard.sdk.snapshot.restore import restore_zip
from runyard.sdk.snapshot.tree import walk
from runyard.sdk.workspace.workspace import Workspace


class Counting:
    """A service that remembers what it was asked."""

    def __init__(self, workspace: Workspace) -> None:
        self._service = workspace.service
        self.asked: list[tuple[str, str, int]] = []

    def put(self, path: str, value: Any = None, **options: Any) -> Any:
        self.asked.append(("PUT", path, len(options.get("body") or b"")))
        return self._service.put(path, value, **options)

    def post(self, path: str, value: Any = None, **options: Any) -> Any:
        self.asked.append(
            ("POST", path, len(options["body"]) if isinstance(options["body"], bytes) else options["length"])
        )
        return self._service.post(path, value, **options)


def entries(folder: Path, cache: Path) -> dict[str, manifest.Entry]:
    tree = walk(folder, ignored_by(folder))
    with Hashes(folder, Known(cache, folder)) as hashes:
        return {entry.path: entry for entry in manifest.make([*tree.entries, *hashes.entries(tree)]).entries}


def unpack(workspace: Workspace, snapshot_id: str, target: Path) -> Path:
    """The folder again, links and modes included."""
    with zipfile.ZipFile(restore_zip(workspace.service, snapshot_id, target)) as archive:
        for member in archive.infolist():
            place = target / "folder" / member.filename
            place.parent.mkdir(parents=True, exist_ok=True)
            mode = member.external_attr >> 16
            if stat.S_ISLNK(mode):
                place.symlink_to(archive.read(member).decode())
            elif stat.S_ISDIR(mode):
                place.mkdir(exist_ok=True)
            else:
                place.write_bytes(archive.read(member))
                place.chmod(mode & 0o777)
    return target / "folder"


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


def test_a_folder_comes_back_as_it_was(workspace: Workspace, tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "pkg" / "empty").mkdir(parents=True)
    (source / "train.py").write_text("print(1)")
    (source / "run.sh").write_text("#!/bin/sh")
    (source / "run.sh").chmod(0o755)
    (source / "pkg" / "ünï çødé 文.txt").write_text("ü")
    (source / "pkg" / "same.txt").write_text("print(1)")
    (source / "link").symlink_to("pkg/same.txt")
    (source / "to_folder").symlink_to("pkg")
    back = unpack(workspace, snapshot.take_snapshot(workspace.service, source), tmp_path / "back")
    assert sorted(path.relative_to(back).as_posix() for path in back.rglob("*")) == sorted(
        path.relative_to(source).as_posix() for path in source.rglob("*")
    )
    assert os.readlink(back / "link") == "pkg/same.txt"
    assert os.readlink(back / "to_folder") == "pkg"
    assert os.access(back / "run.sh", os.X_OK)
    assert not os.access(back / "train.py", os.X_OK)
    assert (back / "pkg" / "ünï çødé 文.txt").read_text() == "ü"


NAMES = st.text(
    st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="/\\"), min_size=1, max_size=8
).filter(lambda name: name.strip() and name not in (".", ".."))


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    files=st.dictionaries(
        NAMES.filter(lambda n: n.strip() and n not in (".", "..")), st.binary(max_size=50), max_size=5
    )
)
def test_any_names_and_contents_come_back(
    workspace: Workspace, tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes]
) -> None:
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("target")
    (source / ".amlignore").write_text("")
    for name, content in files.items():
        (source / name).write_bytes(content)
    back = unpack(workspace, snapshot.take_snapshot(workspace.service, source), target)
    (back / ".amlignore").unlink()
    assert {path.name: path.read_bytes() for path in back.iterdir()} == files


def test_only_what_is_new_travels(workspace: Workspace, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for number in range(20):
        (source / f"{number}.bin").write_bytes(os.urandom(1000))
    service = Counting(workspace)
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
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot, "PACK_BYTES", 1000)
    source = tmp_path / "source"
    source.mkdir()
    (source / "large").write_bytes(os.urandom(3_000_000))
    (source / "small").write_bytes(b"x")
    back = unpack(workspace, snapshot.take_snapshot(workspace.service, source), tmp_path / "back")
    assert (back / "large").read_bytes() == (source / "large").read_bytes()


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


def test_links_that_lead_out_or_nowhere(tmp_path: Path) -> None:
    source, outside = tmp_path / "source", tmp_path / "outside"
    (source / "sub").mkdir(parents=True)
    outside.mkdir()
    (outside / "data.csv").write_text("1")
    (source / "real.txt").write_text("r")
    (source / "file").symlink_to(outside / "data.csv")
    (source / "folder").symlink_to(outside)
    (source / "broken").symlink_to("nowhere")
    (source / "loop").symlink_to("loop")
    (source / "sub" / "absolute").symlink_to(source / "real.txt")
    found = entries(source, tmp_path / "cache")
    assert found["file"].kind == manifest.FILE
    assert "folder" not in found
    assert "folder (a link to" in walk(source, ignored_by(source)).left_out[0]
    assert found["broken"].target == "nowhere"
    assert found["loop"].target == "loop"
    assert found["sub/absolute"].target == "../real.txt"


def test_sockets_and_pipes_are_left_out_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
        tree = walk(tmp_path, ignored_by(tmp_path))
    assert sorted(left.split()[0] for left in tree.left_out) == ["pipe", "socket"]
    assert tree.files == []


def test_names_that_are_no_unicode_are_kept(workspace: Workspace, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    Path(os.fsdecode(os.fsencode(source) + b"/\xff.txt")).write_text("odd")
    (source / "back\\slash").write_text("no")
    found = entries(source, tmp_path / "cache")
    assert list(found) == ["\udcff.txt"]
    snapshot_id = snapshot.take_snapshot(workspace.service, source)
    with zipfile.ZipFile(restore_zip(workspace.service, snapshot_id, tmp_path)) as archive:
        assert archive.namelist() == ["%FF.txt"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read everything")
def test_a_file_that_cannot_be_read_is_named_with_the_way_out(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    (tmp_path / "secret").chmod(0)
    with pytest.raises(SnapshotException, match=r"secret.*\.amlignore"):
        snapshot.take_snapshot(workspace.service, tmp_path)


def test_an_unreadable_file_is_named_with_the_way_out(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same for root, who cannot be refused by a file's mode: the disk refuses."""

    def refuse(stream: object) -> None:
        raise PermissionError(13, "Permission denied")

    (tmp_path / "secret").write_text("x")
    monkeypatch.setattr(pack, "digest_of", refuse)
    with pytest.raises(SnapshotException, match=r"secret.*\.amlignore"):
        snapshot.take_snapshot(workspace.service, tmp_path)


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
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "a").write_bytes(os.urandom(100))
    send = snapshot._send
    new = os.urandom(100)

    def change_first(*arguments: Any) -> str:
        if (source / "a").read_bytes() != new:
            (source / "a").write_bytes(new)
        return send(*arguments)

    monkeypatch.setattr(snapshot, "_send", change_first)
    back = unpack(workspace, snapshot.take_snapshot(workspace.service, source), tmp_path / "back")
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


def test_a_damaged_cache_is_an_empty_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot_hashes, "TRUST_AFTER_NS", -1)
    source, cache = tmp_path / "source", tmp_path / "cache"
    source.mkdir()
    (source / "a").write_text("x")
    first = entries(source, cache)
    for file in cache.iterdir():
        file.write_text("{")
    assert entries(source, cache) == first


def test_an_id_that_is_no_id_does_not_become_a_path(workspace: Workspace, tmp_path: Path) -> None:
    """It may come from a server that lies, and the zip is named like it."""
    for wrong in ("../outside", "/tmp/x", "", "A" * 64):
        with pytest.raises(SnapshotException, match="no id of a snapshot"):
            restore_zip(workspace.service, wrong, tmp_path / "here")
    assert list(tmp_path.iterdir()) == []
