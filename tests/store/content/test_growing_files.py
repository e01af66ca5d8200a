from __future__ import annotations

import os
import random
import resource
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runyard.store.content import growing_files
from runyard.store.content.growing_files import STRIPES, Growing
from runyard.store.content.objects import Objects
from runyard.store.errors import Conflict, NotFound


@pytest.fixture
def growing(tmp_path: Path) -> Growing:
    growing = Growing(tmp_path / "growing")
    growing.restart(1)
    return growing


def test_bytes_are_added_at_the_end(growing: Growing) -> None:
    assert growing.append(1, 0, b"one\n") == 4
    assert growing.append(1, 4, b"two\n") == 8
    assert growing.open(1).read() == b"one\ntwo\n"
    assert growing.size(1) == 8


def test_a_repeat_and_an_overlap_do_no_harm(growing: Growing) -> None:
    growing.append(1, 0, b"one\n")
    assert growing.append(1, 0, b"one\n") == 4
    assert growing.append(1, 2, b"e\ntwo\n") == 8
    assert growing.append(1, 0, b"one") == 8
    assert growing.open(1).read() == b"one\ntwo\n"


def test_a_gap_is_refused_and_says_where_to_go_on(growing: Growing) -> None:
    growing.append(1, 0, b"one\n")
    with pytest.raises(Conflict) as caught:
        growing.append(1, 5, b"three\n")
    assert caught.value.code == "offset_gap"
    assert caught.value.detail == {"size": 4}
    assert growing.size(1) == 4


def test_restart_empties(growing: Growing) -> None:
    growing.append(1, 0, b"one\n")
    growing.restart(1)
    assert growing.append(1, 0, b"new\n") == 4
    assert growing.open(1).read() == b"new\n"


def test_keys_do_not_touch_one_another(growing: Growing) -> None:
    growing.restart(65)  # shares its lock with 1
    growing.append(1, 0, b"a")
    growing.append(65, 0, b"bb")
    assert (growing.size(1), growing.size(65)) == (1, 2)
    assert growing.all() == [1, 65]


def test_a_file_that_was_removed_takes_no_bytes(growing: Growing) -> None:
    growing.append(1, 0, b"one\n")
    assert growing.remove(1) == 4
    assert growing.remove(1) == 0
    with pytest.raises(NotFound):
        growing.append(1, 0, b"late\n")
    assert growing.all() == []


def test_a_taken_file_is_closed_but_still_there(growing: Growing, tmp_path: Path) -> None:
    growing.append(1, 0, b"one\n")
    taken = growing.take(1)
    assert growing.is_taken(1)
    with pytest.raises(NotFound):
        growing.append(1, 4, b"late\n")
    Objects(tmp_path / "objects").adopt(taken)
    assert growing.open(1).read() == b"one\n"
    assert growing.remove(1) == 4


def test_a_seal_that_never_ended_is_undone_without_harm_to_the_object(growing: Growing, tmp_path: Path) -> None:
    objects = Objects(tmp_path / "objects")
    growing.append(1, 0, b"one\n")
    stored = objects.adopt(growing.take(1))
    growing.revive(1)
    assert not growing.is_taken(1)
    assert growing.append(1, 4, b"two\n") == 8
    assert growing.open(1).read() == b"one\ntwo\n"
    assert objects.open(stored.digest).read() == b"one\n"


def test_a_reader_keeps_what_it_has_opened(growing: Growing) -> None:
    growing.append(1, 0, b"one\n")
    with growing.open(1) as file:
        growing.remove(1)
        assert file.read() == b"one\n"


def test_threads_that_send_the_same_bytes_at_once_lose_and_double_nothing(growing: Growing) -> None:
    content = os.urandom(50_000)

    def work(seed: int) -> None:
        source, size = random.Random(seed), 0
        while size < len(content):
            length = source.randint(1, 3000)
            size = growing.append(1, size, content[size : size + length])

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert growing.open(1).read() == content


@given(content=st.binary(max_size=60), cuts=st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=20))
def test_any_order_of_pieces_gives_a_beginning_of_the_file(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, cuts: list[tuple[int, int]]
) -> None:
    growing = Growing(tmp_path_factory.mktemp("growing"))
    growing.restart(7)
    for offset, length in cuts:
        start = min(offset, len(content))
        piece, before = content[start : start + length], growing.size(7)
        if start > before:
            with pytest.raises(Conflict) as caught:
                growing.append(7, start, piece)
            assert caught.value.detail == {"size": before}
        else:
            assert growing.append(7, start, piece) == max(before, start + len(piece))
        assert growing.open(7).read() == content[: growing.size(7)]


def test_few_descriptors_stay_open_and_all_files_grow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growing_files, "most_open", lambda: STRIPES)  # one for each stripe
    growing = Growing(tmp_path / "growing")
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else None
    keys = range(3 * STRIPES)
    for key in keys:
        growing.restart(key)
    for turn in range(2):
        for key in keys:
            assert growing.append(key, 4 * turn, b"turn") == 4 * (turn + 1)
    if before is not None:
        assert len(os.listdir("/proc/self/fd")) - before == STRIPES
    growing.close()
    assert growing.append(1, 8, b"on") == 10, "whoever appends after the end opens it again"
    growing.close()


@pytest.mark.parametrize("leave", ["take", "remove", "set_aside"])
def test_a_file_that_goes_takes_no_more_bytes(tmp_path: Path, leave: str) -> None:
    """Its descriptor is open, and bytes that went there would be lost, or be in an object that must not change."""
    growing = Growing(tmp_path / "growing")
    growing.restart(7)
    growing.append(7, 0, b"here")
    getattr(growing, leave)(7)
    with pytest.raises(NotFound):
        growing.append(7, 4, b"lost")


def test_a_file_that_begins_anew_takes_bytes_from_the_start(tmp_path: Path) -> None:
    growing = Growing(tmp_path / "growing")
    growing.restart(7)
    growing.append(7, 0, b"former")
    growing.restart(7)
    assert growing.append(7, 0, b"new") == 3
    growing.close()


def test_the_limit_of_open_files_decides_how_many_stay_open(monkeypatch: pytest.MonkeyPatch) -> None:
    def limit(count: int) -> int:
        monkeypatch.setattr(resource, "getrlimit", lambda which: (count, count))
        return growing_files.most_open()

    assert limit(256) == limit(1024) == STRIPES
    assert STRIPES < limit(20_000) < 5000
    assert limit(1 << 20) == limit(resource.RLIM_INFINITY) == 256 * STRIPES
