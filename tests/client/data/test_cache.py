"""What was fetched is there for all, is fetched once, and is never taken away from somebody who uses it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from runyard.client.data.cache import Cache, key_of

ENTRY: dict[str, Any] = {"source": "s", "url": "http://x/a", "size": 5, "etag": '"1"', "modified": None}


def nothing() -> None:
    return


def put(cache: Cache, each: dict[str, Any], text: bytes = b"12345") -> str:
    key = key_of(each)
    assert key is not None
    with cache.lease() as lease:
        lease.add([key])
        cache.obtain(key, each, lambda part, pieces: _write(part, text), nothing)
    return key


def _write(part: Path, text: bytes) -> None:
    part.write_bytes(text)


def test_keys_change_with_what_tells_a_file_from_another() -> None:
    assert key_of(ENTRY) == key_of({**ENTRY, "source": "t"})
    assert key_of({**ENTRY, "etag": None}) is None, "nothing tells it from a changed one"
    others: list[dict[str, Any]] = [
        {"etag": '"2"'},
        {"url": "http://x/b"},
        {"size": 6},
        {"etag": None, "modified": "m"},
    ]
    assert len({key_of(ENTRY), *(key_of({**ENTRY, **each}) for each in others)}) == 5
    signed = {**ENTRY, "content": "datasets/1/content"}
    assert key_of({**signed, "url": "http://x/a?sig=1"}) == key_of({**signed, "url": "http://x/a?sig=2"})


def test_however_many_ask_it_is_fetched_once(tmp_path: Path) -> None:
    cache, key, fetched = Cache(tmp_path), key_of(ENTRY), []
    assert key is not None

    def fetch(part: Path, pieces: Path) -> None:
        fetched.append(1)
        time.sleep(0.1)
        part.write_bytes(b"12345")

    with cache.lease() as lease, ThreadPoolExecutor(8) as pool:
        lease.add([key])
        found = list(pool.map(lambda _: cache.obtain(key, ENTRY, fetch, nothing), range(8)))
    assert len(fetched) == 1
    assert sorted(now for _, now in found) == [False] * 7 + [True]
    assert Path(found[0][0]).read_bytes() == b"12345"
    assert oct(os.stat(found[0][0]).st_mode & 0o777) == "0o444"
    assert [path.suffix for path in (tmp_path / key[:2]).iterdir() if path.suffix == ".part"] == []


def test_a_fetcher_that_is_killed_leaves_its_part_to_the_next(tmp_path: Path) -> None:
    key = key_of(ENTRY)
    assert key is not None
    code = (
        "import sys, time\nfrom pathlib import Path\nfrom runyard.client.data.cache import Cache\n"
        f"cache, each = Cache(Path({str(tmp_path)!r})), {ENTRY!r}\nlease = cache.lease()\nlease.add([{key!r}])\n"
        "def fetch(part, pieces):\n    part.write_bytes(b'123')\n    print('begun', flush=True)\n    time.sleep(60)\n"
        f"cache.obtain({key!r}, each, fetch, lambda: None)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    cache, waits, found = Cache(tmp_path), threading.Event(), []

    def fetch(part: Path, pieces: Path) -> None:
        found.append(part.read_bytes())
        part.write_bytes(b"12345")

    with cache.lease() as lease, ThreadPoolExecutor(1) as pool:
        lease.add([key])
        waiting = pool.submit(cache.obtain, key, ENTRY, fetch, nothing, waits.set)
        assert waits.wait(20)
        assert not found
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert waiting.result(20)[1]
    process.stdout.close()
    assert found == [b"123"], "what had come is not lost"
    assert cache.collect() == []
    assert list((tmp_path / "leases").iterdir()) == [], "the dead one's lease is gone"


def test_the_oldest_go_first_and_never_what_is_used(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    keys = []
    for number in range(4):
        keys.append(put(cache, {**ENTRY, "url": f"http://x/{number}"}))
        at = 1_000_000 + number
        os.utime(cache.path(keys[-1]).with_name(keys[-1] + ".json"), (at, at))
    with cache.lease() as lease:
        lease.add([keys[0]])
        assert [each.address for each in cache.collect(limit=10)] == ["http://x/1", "http://x/2"]
        assert cache.collect(limit=0)[0].key == keys[3]
        assert [(each.key, each.used) for each in cache.entries()] == [(keys[0], True)]
    assert [each.key for each in cache.collect(unused_for=3600)] == [keys[0]]
    assert cache.entries() == []
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [tmp_path / "collect.lock"]


def test_a_use_makes_a_file_young(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    key = put(cache, ENTRY)
    note = cache.path(key).with_name(key + ".json")
    os.utime(note, (1, 1))
    assert cache.find(key, 5)
    assert cache.collect(unused_for=3600) == []
    assert cache.find(key, 6) is None, "a file that was cut is no file"


def test_what_was_begun_and_is_nobodys_goes(tmp_path: Path) -> None:
    cache, key = Cache(tmp_path), key_of(ENTRY)
    assert key is not None

    def fail(part: Path, pieces: Path) -> None:
        part.write_bytes(b"1")
        raise OSError("broken")

    with cache.lease() as lease:
        lease.add([key])
        with pytest.raises(OSError, match="broken"):
            cache.obtain(key, ENTRY, fail, nothing)
        cache.collect()
        assert cache.path(key).with_name(f"{key}.part").exists(), "it is taken up again"
    cache.collect()
    assert not cache.path(key).with_name(f"{key}.part").exists()


def test_room_is_made_before_a_transfer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = Cache(tmp_path)
    put(cache, ENTRY)
    free = cache.free()
    assert cache.make_room(free // 2)
    assert len(cache.entries()) == 1
    assert not cache.make_room(free * 2), "the disk has no room for this"
    assert cache.entries() == [], "though all that nobody uses has gone"
