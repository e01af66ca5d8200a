"""Object stores for real: files go in and out whole, strangers read by signed addresses, and no key is ever said."""

from __future__ import annotations

import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runyard.server.data.object_place import ObjectPlace, open_object_place
from runyard.server.middleware.problems import Problem

if TYPE_CHECKING:
    from tests.support.object_stores import ObjectStore

pytestmark = pytest.mark.xdist_group("object-stores")


def opened(store: ObjectStore, key: str | None = None, **settings: str) -> ObjectPlace:
    secrets = store.secrets if key is None else dict.fromkeys(store.secrets, key)
    return open_object_place("mine", store.kind, {**store.settings, **settings}, secrets)


def put(place: ObjectPlace, folder: Path, files: Mapping[str, bytes]) -> None:
    for path, content in files.items():
        (folder / "source").write_bytes(content)
        place.take(path, folder / "source")


def test_files_are_written_listed_looked_at_read_and_removed(object_store: ObjectStore, tmp_path: Path) -> None:
    place = opened(object_store, prefix="whole")
    files = {"d.txt": b"1", "d/a b ü": b"22", "d/c%20": b"333", "e/f/g": b""}
    put(place, tmp_path, files)
    assert not (tmp_path / "source").exists()
    assert {each.path: each.size for each in place.files()} == {path: len(content) for path, content in files.items()}
    assert [each.path for each in place.files()] == sorted(files)
    assert [each.path for each in place.files("d")] == ["d/a b ü", "d/c%20"], "a folder, not the beginning of a name"
    assert [each.path for each in place.files("d.txt")] == ["d.txt"]
    assert [each.path for each in place.files("", after="d.txt")] == ["d/a b ü", "d/c%20", "e/f/g"]
    seen = place.look("d/c%20")
    assert seen == next(each for each in place.files() if each.path == "d/c%20")
    assert b"".join(place.read("d/c%20", 1, 3)) == b"33"
    assert b"".join(place.read("e/f/g", 0, 0)) == b""
    place.remove("d.txt")
    place.remove("d.txt")
    assert place.look("d.txt") is None


def test_an_address_reads_and_writes_without_credentials(object_store: ObjectStore, tmp_path: Path) -> None:
    place = opened(object_store, prefix="signed")
    (write,) = place.addresses(["put/x"], "PUT")
    headers = {**place.headers("PUT"), "Content-Type": "application/octet-stream"}
    request = urllib.request.Request(str(write), data=b"hello", method="PUT", headers=headers)
    urllib.request.urlopen(request, timeout=30).close()
    odd = "a b/ü?.txt"
    put(place, tmp_path, {odd: b"odd"})
    (read, strange) = place.addresses(["put/x", odd])
    ranged = urllib.request.Request(str(read), headers={"Range": "bytes=1-2"})
    with urllib.request.urlopen(ranged, timeout=30) as answer:
        assert (answer.status, answer.read(), answer.headers["ETag"]) == (206, b"el", place.look("put/x").etag)  # type: ignore[union-attr]
    if strange is not None:  # else the server gives it
        with urllib.request.urlopen(strange, timeout=30) as answer:
            assert answer.read() == b"odd"
    for secret in object_store.secrets.values():
        assert secret not in str((write, read, strange))


def test_a_large_file_goes_in_parts(object_store: ObjectStore, tmp_path: Path) -> None:
    place = opened(object_store, prefix="large")
    content = bytes(range(256)) * (80 << 10)  # 20 MiB
    put(place, tmp_path, {"large": content})
    assert place.look("large").size == len(content)  # type: ignore[union-attr]
    assert b"".join(place.read("large", 0, len(content))) == content


def test_what_is_refused_or_away_is_said_without_the_key(object_store: ObjectStore) -> None:
    named = "bucket" if object_store.kind == "s3" else "container_name"
    with pytest.raises(Problem, match="does not exist") as missing:
        list(opened(object_store, None, **{named: "no-such-place"}).files())
    assert missing.value.code == "datastore_unreachable"
    away = {"endpoint": "http://127.0.0.1:9/x"}
    with pytest.raises(Problem, match="cannot be used") as gone:
        list(opened(object_store, None, **away).files())
    for secret in object_store.secrets.values():
        assert secret not in str((missing.value.title, gone.value.title))
    if object_store.kind == "azure_blob":  # moto takes any key
        with pytest.raises(Problem, match="refuses the credentials: 403") as refused:
            list(opened(object_store, "bm9uc2Vuc2U=").files())
        assert "overwrite=True" in refused.value.help
