from __future__ import annotations

import errno
import hashlib
import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from runyard.contracts.manifest import FOLDER, LINK, BadManifest, Entry, Manifest, make, parse
from runyard.node.prepare.layout import lay_out, object_path, out_of_disk
from runyard.node.problem import RunProblem

Snapshot = Callable[[Mapping[str, "str | bytes"], Path], Manifest]


@pytest.fixture
def objects(tmp_path: Path) -> Path:
    return tmp_path / "objects"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def nothing() -> None:
    pass


ODD: dict[str, str | bytes] = {
    "train.py": "print()",
    "empty": b"",
    "sub/folder/with space.txt": "a",
    "ünï/çødé/日本語.txt": "b",
    "-rf": "c",
    "quote'\"$HOME;*?.txt": "d",
    "new\nline": "e",
    "same.txt": "a",
    "big.bin": bytes(range(256)) * 20_000,
    "not-utf8-\udcff": b"f",
}


def test_odd_names(snapshot: Snapshot, objects: Path, work: Path) -> None:
    manifest = parse(snapshot(ODD, objects).text)
    assert lay_out(manifest, objects, work, nothing) == len(ODD)
    for path, content in ODD.items():
        assert (work / path).read_bytes() == (content.encode() if isinstance(content, str) else content)
    found = {os.path.relpath(os.path.join(above, name), work) for above, _, files in os.walk(work) for name in files}
    assert found == set(ODD)


def test_links_empty_folders_and_run_bits(snapshot: Snapshot, objects: Path, work: Path) -> None:
    [file] = snapshot({"run.sh": "#!/bin/sh\n"}, objects).entries
    manifest = make(
        [
            Entry("run.sh", digest=file.digest, size=file.size, executable=True),
            Entry("plain.sh", digest=file.digest, size=file.size),
            Entry("empty/inside", FOLDER),
            Entry("link", LINK, target="empty/inside"),
            Entry("away", LINK, target="/no/where"),
        ]
    )
    lay_out(manifest, objects, work, nothing)
    assert os.access(work / "run.sh", os.X_OK)
    assert not (work / "plain.sh").stat().st_mode & 0o111
    assert (work / "empty/inside").is_dir()
    assert os.readlink(work / "link") == "empty/inside"
    assert os.readlink(work / "away") == "/no/where"


def test_what_the_script_writes_to_its_files_leaves_the_store_alone(
    snapshot: Snapshot, objects: Path, work: Path
) -> None:
    manifest = snapshot({"data.txt": "as it was"}, objects)
    lay_out(manifest, objects, work, nothing)
    (work / "data.txt").write_text("changed")
    assert object_path(objects, manifest.entries[0].digest).read_text() == "as it was"


def test_nothing_is_written_through_a_link(snapshot: Snapshot, objects: Path, work: Path, tmp_path: Path) -> None:
    [file] = snapshot({"x": "evil"}, objects).entries
    (tmp_path / "outside").mkdir()
    manifest = make(
        [Entry("a", LINK, target=str(tmp_path / "outside")), Entry("a/b", digest=file.digest, size=file.size)]
    )
    with pytest.raises(RunProblem, match="'a/b'"):
        lay_out(manifest, objects, work, nothing)
    assert not list((tmp_path / "outside").iterdir())


def test_a_missing_object_is_told_with_its_file(snapshot: Snapshot, objects: Path, work: Path) -> None:
    manifest = snapshot({"model/weights.bin": "x"}, objects)
    object_path(objects, manifest.entries[0].digest).unlink()
    with pytest.raises(RunProblem, match=r"model/weights\.bin") as problem:
        lay_out(manifest, objects, work, nothing)
    assert problem.value.code == "SnapshotIncomplete"


LARGE = bytes(range(256)) * 10_000


@pytest.mark.parametrize(
    ("content", "damaged"),
    [(b"whole", b""), (b"whole", b"who"), (b"whole", b"whale"), (LARGE, LARGE[:-1]), (LARGE, b"\1" + LARGE[1:])],
    ids=["emptied", "halved", "flipped", "large halved", "large flipped"],
)
def test_a_damaged_object_is_noticed(
    snapshot: Snapshot, objects: Path, work: Path, content: bytes, damaged: bytes
) -> None:
    manifest = snapshot({"x": content}, objects)
    object_path(objects, manifest.entries[0].digest).write_bytes(damaged)
    with pytest.raises(RunProblem, match=f"'x' is damaged.* has {len(damaged)} bytes") as caught:
        lay_out(manifest, objects, work, nothing)
    assert caught.value.code == "SnapshotIncomplete"


def test_where_the_kernel_copies_nothing_the_plain_way_does(
    snapshot: Snapshot, objects: Path, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some file systems report that a file is at its end when they cannot copy it, faked here."""
    monkeypatch.setattr(os, "copy_file_range", lambda *_: 0, raising=False)
    lay_out(snapshot({"x": LARGE}, objects), objects, work, nothing)
    assert (work / "x").read_bytes() == LARGE


def test_a_full_disk_is_told_as_such() -> None:
    problem = out_of_disk(OSError(errno.ENOSPC, "No space left on device"), Path("/disk"))
    assert problem.code == "DiskFull"
    assert "/disk" in problem.message


def test_it_can_be_stopped_between_files(snapshot: Snapshot, objects: Path, work: Path) -> None:
    class Enough(Exception):
        pass

    seen: list[int] = []

    def check() -> None:
        seen.append(1)
        if len(seen) == 2:
            raise Enough

    manifest = snapshot({"a": "1", "b": "2", "c": "3"}, objects)
    with pytest.raises(Enough):
        lay_out(manifest, objects, work, check)
    assert [path.name for path in work.iterdir()] == ["a"]


def test_the_layout_of_the_object_store_is_the_stores(tmp_path: Path) -> None:
    from runyard.store.content.objects import Objects

    digest = hashlib.sha256(b"x").hexdigest()
    assert object_path(tmp_path, digest) == Objects(tmp_path).path(digest)


def test_a_snapshot_of_any_depth_is_laid_out(snapshot: Snapshot, objects: Path, work: Path) -> None:
    path = "/".join(["d"] * 1500) + "/file"
    assert lay_out(snapshot({path: "deep"}, objects), objects, work, nothing) == 1
    assert (work / path).read_text() == "deep"
    subprocess.run(["rm", "-rf", work], check=True)  # pytest could not


def test_a_path_that_no_disk_takes_is_refused() -> None:
    path = "/".join(["d"] * 2500) + "/file"
    with pytest.raises(BadManifest, match="path that no disk takes"):
        parse(make([Entry(path, digest="0" * 64)]).text)


def test_a_deep_path_below_a_link_is_refused(objects: Path, work: Path) -> None:
    deep = "/".join(["d"] * 1000)
    entries = [Entry("d/d/d", LINK, target="/"), Entry(f"{deep}/file", digest="0" * 64)]
    with pytest.raises(RunProblem, match="lies below a file or a link"):
        lay_out(make(entries), objects, work, nothing)
