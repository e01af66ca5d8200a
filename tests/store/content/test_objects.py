from __future__ import annotations

import errno
import hashlib
import io
import threading
from pathlib import Path

import pytest

from runyard.store.content.objects import Objects, Stored
from runyard.store.errors import DiskFull, NotFound, Refused

HELLO = hashlib.sha256(b"hello").hexdigest()


@pytest.fixture
def objects(tmp_path: Path) -> Objects:
    return Objects(tmp_path / "objects")


def left_aside(objects: Objects) -> list[Path]:
    return list(objects.incoming.iterdir())


def test_content_is_kept_under_its_hash(objects: Objects) -> None:
    assert objects.put([b"hel", b"lo"]) == Stored(HELLO, 5)
    assert objects.path(HELLO) == objects.folder / HELLO[:2] / HELLO[2:]
    assert objects.open(HELLO).read() == b"hello"
    assert objects.size(HELLO) == 5
    assert left_aside(objects) == []


def test_the_same_content_twice_is_one_file(objects: Objects) -> None:
    assert objects.put([b"hello"]) == objects.put([b"h", b"ello"])
    assert [found.digest for found in objects.walk()] == [HELLO]


def test_empty_content_is_content(objects: Objects) -> None:
    stored = objects.put([])
    assert stored.size == 0
    assert objects.has(stored.digest, 0)


def test_bytes_with_another_hash_are_refused_and_not_kept(objects: Objects) -> None:
    with pytest.raises(Refused) as caught:
        objects.put([b"hallo"], HELLO)
    assert caught.value.code == "content_mismatch"
    assert not objects.has(HELLO)
    assert left_aside(objects) == []


def test_a_source_that_breaks_leaves_nothing(objects: Objects) -> None:
    def chunks() -> io.BytesIO:
        raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        objects.put(part for part in (b"hel", chunks()))  # type: ignore[misc]
    assert left_aside(objects) == []
    assert list(objects.walk()) == []


def test_a_torn_object_counts_as_missing_and_is_mended(objects: Objects) -> None:
    objects.put([b"hello"])
    objects.path(HELLO).write_bytes(b"he")  # what a power cut may leave
    assert not objects.has(HELLO, 5)
    objects.put([b"hello"])
    assert objects.has(HELLO, 5)
    assert objects.open(HELLO).read() == b"hello"


def test_a_file_is_moved_in(objects: Objects, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"hello")
    assert objects.adopt(path) == Stored(HELLO, 5)
    assert not path.exists()
    assert objects.open(HELLO).read() == b"hello"


def test_a_file_is_moved_in_where_its_content_is_known(objects: Objects, tmp_path: Path) -> None:
    objects.put([b"hello"])
    path = tmp_path / "log"
    path.write_bytes(b"hello")
    assert objects.adopt(path) == Stored(HELLO, 5)
    assert not path.exists()


def test_removing_tells_the_bytes_that_came_free(objects: Objects) -> None:
    objects.put([b"hello"])
    assert objects.remove(HELLO) == 5
    assert objects.remove(HELLO) == 0
    with pytest.raises(NotFound):
        objects.open(HELLO)


@pytest.mark.parametrize("name", ["../../etc/passwd", "", "ABC", HELLO.upper(), HELLO + "/x"])
def test_a_hash_that_is_none_never_becomes_a_path(objects: Objects, name: str) -> None:
    with pytest.raises(Refused):
        objects.path(name)


def test_an_aborted_writer_leaves_nothing(objects: Objects) -> None:
    writer = objects.writer()
    writer.write(b"hel")
    writer.abort()
    assert left_aside(objects) == []


class FullFile(io.BytesIO):
    """A file on a disk that is full."""

    def write(self, chunk: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_faked_is_told_and_nothing_half_made_is_left(objects: Objects) -> None:
    writer = objects.writer()
    writer._file.close()
    writer._file = FullFile()
    with pytest.raises(DiskFull) as caught:
        writer.write(b"hello")
    assert caught.value.code == "disk_full"
    assert str(objects.folder) in caught.value.title
    assert left_aside(objects) == []


def test_many_threads_may_put_the_same_content(objects: Objects) -> None:
    start = threading.Barrier(8)
    stored: list[Stored] = []

    def work() -> None:
        start.wait()
        for number in range(20):
            stored.append(objects.put([b"content %d" % number]))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(stored) == 160
    assert len(list(objects.walk())) == 20
    assert left_aside(objects) == []


def test_an_emptied_object_counts_as_missing_whatever_its_size_was(objects: Objects) -> None:
    objects.put([b"hello"])
    objects.path(HELLO).write_bytes(b"")  # the file was there before its bytes were
    assert objects.size(HELLO) is None
    assert not objects.has(HELLO)


def test_content_that_is_sent_again_mends_an_object_whose_bytes_have_changed(objects: Objects, tmp_path: Path) -> None:
    objects.put([b"hello"])
    objects.path(HELLO).write_bytes(b"hallo")
    assert not objects.is_sound(HELLO)
    objects.put([b"hello"])
    assert objects.is_sound(HELLO)
    objects.path(HELLO).write_bytes(b"hallo")
    (tmp_path / "log").write_bytes(b"hello")
    objects.adopt(tmp_path / "log")
    assert objects.open(HELLO).read() == b"hello"
    assert left_aside(objects) == []
    assert not objects.is_sound("0" * 64)
