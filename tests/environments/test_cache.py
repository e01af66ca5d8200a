from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.bad_json import every_bad_text

from runyard.environments.builder import Built
from runyard.environments.cache import Cache, Entry, InUse, Origin

SECONDS = 120
ORIGIN = Origin("packages", "by hand", "mine")


def make(folder: Path) -> Built:
    (folder / "bin").mkdir()
    (folder / "bin" / "python").write_text("a Python")
    return Built(str(folder / "bin" / "python"), str(folder), python="3.11.2", changes=["one"], variables={"A": "b"})


def never(folder: Path) -> Built:
    raise AssertionError("it was to be found")


def build(
    cache: Cache, key: str, how: Callable[[Path], Built] = make, said: list[str] | None = None, name: str = "mine"
) -> Entry:
    return cache.build(
        key, how, (said if said is not None else []).append, lambda: None, Origin("packages", "by hand", name)
    )


def used_ago(cache: Cache, key: str, seconds: float) -> None:
    os.utime(cache.folder / f"{key}.json", (time.time() - seconds,) * 2)


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.01)


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "environments")


BUILDER = """
    import sys, time
    from pathlib import Path
    from runyard.environments.builder import Built
    from runyard.environments.cache import Cache, Origin

    folder, diary, hold = Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])

    def make(folder):
        with diary.open("a") as file:
            file.write("built\\n")
        (folder / "python").write_text("half")
        while hold.exists():
            time.sleep(0.01)
        return Built(str(folder / "python"), str(folder))

    entry = Cache(folder).build("k1", make, print, lambda: None, Origin("packages", "by hand"))
    print("got", entry.built.interpreter, flush=True)
"""


def builder(cache: Cache, diary: Path, hold: Path) -> subprocess.Popen[str]:
    """Another process that builds k1, and does not finish while the file `hold` is there."""
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(BUILDER), str(cache.folder), str(diary), str(hold)],
        stdout=subprocess.PIPE,
        text=True,
    )


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def test_what_was_built_is_found_with_all_that_is_known_of_it(cache: Cache) -> None:
    assert cache.find("k1") is None
    entry = build(cache, "k1")
    found = cache.find("k1")
    assert found is not None
    assert (found.built, found.names, found.kind, found.builder) == (entry.built, ["mine"], "packages", "by hand")
    assert found.size == len("a Python")
    assert build(cache, "k1", never).built == entry.built
    assert cache.folder.stat().st_mode & 0o777 == 0o700
    assert (cache.folder / "k1").stat().st_mode & 0o777 == 0o700


def test_ten_processes_at_once_build_once(cache: Cache, tmp_path: Path) -> None:
    diary, hold = tmp_path / "diary", tmp_path / "hold"
    hold.touch()
    processes = [builder(cache, diary, hold) for _ in range(10)]
    try:
        wait_for(lambda: bool(lines(diary)))
        hold.unlink()
        told = [process.communicate(timeout=SECONDS)[0] for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.wait()
    assert lines(diary) == ["built"]
    assert all(f"got {cache.folder / 'k1' / 'python'}" in text for text in told)


def test_threads_of_one_process_build_once(cache: Cache) -> None:
    built: list[Path] = []

    def slow(folder: Path) -> Built:
        built.append(folder)
        wait_for(lambda: bool(said))
        return make(folder)

    said: list[str] = []
    threads = [threading.Thread(target=lambda: build(cache, "k1", slow, said)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
    assert built == [cache.folder / "k1"]


def test_whoever_waits_says_so_once_and_can_give_up(cache: Cache, tmp_path: Path) -> None:
    diary, hold = tmp_path / "diary", tmp_path / "hold"
    hold.touch()
    process = builder(cache, diary, hold)
    said: list[str] = []
    looks = 0

    class Stopped(Exception):
        pass

    def check() -> None:
        nonlocal looks
        looks += 1
        if looks > 4:
            raise Stopped

    try:
        wait_for(lambda: bool(lines(diary)))
        with pytest.raises(Stopped):
            cache.build("k1", never, said.append, check, ORIGIN)
    finally:
        process.kill()
        process.communicate()
    assert said == [f"waits for process {process.pid}, which builds it"]


def test_what_a_killed_builder_has_left_is_never_used(cache: Cache, tmp_path: Path) -> None:
    diary, hold = tmp_path / "diary", tmp_path / "hold"
    hold.touch()
    process = builder(cache, diary, hold)
    half = cache.folder / "k1" / "python"
    try:
        wait_for(half.exists)
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert cache.find("k1") is None
    assert cache.entries() == []
    assert cache.leftovers() == [cache.folder / "k1"]

    entry = build(cache, "k1")
    assert not half.exists()
    assert Path(entry.built.interpreter).read_text() == "a Python"
    assert cache.leftovers() == []


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, OSError])
def test_a_build_that_fails_leaves_nothing(cache: Cache, error: type[BaseException]) -> None:
    def fail(folder: Path) -> Built:
        make(folder)
        (folder / "bin").chmod(0o500)
        raise error

    with pytest.raises(error):
        build(cache, "k1", fail)
    assert cache.find("k1") is None
    assert not [path for path in cache.folder.iterdir() if path.suffix not in (".lock", ".used")]
    assert Path(build(cache, "k1").built.interpreter).exists()


def test_one_that_is_not_good_is_built_anew(cache: Cache) -> None:
    build(cache, "k1")
    (cache.folder / "k1" / "old").touch()
    entry = cache.build("k1", make, print, lambda: None, ORIGIN, good=lambda entry: False)
    assert Path(entry.built.interpreter).exists()
    assert not (cache.folder / "k1" / "old").exists()


@every_bad_text
def test_an_entry_that_cannot_be_read_counts_as_none(cache: Cache, text: bytes) -> None:
    build(cache, "k1")
    (cache.folder / "k1.json").write_bytes(text)
    assert cache.find("k1") is None
    assert cache.entries() == []
    assert build(cache, "k1").key == "k1"


def test_an_entry_whose_folder_is_gone_counts_as_none(cache: Cache) -> None:
    build(cache, "k1")
    (cache.folder / "k1").rename(cache.folder.parent / "elsewhere")
    assert cache.find("k1") is None
    cache.sweep()
    assert list(cache.folder.iterdir()) == []


def test_what_a_run_uses_is_not_removed(cache: Cache) -> None:
    build(cache, "k1")
    first, second = cache.use("k1"), cache.use("k1")
    first.release()
    assert cache.is_used("k1")
    with pytest.raises(InUse):
        cache.remove("k1")
    assert cache.collect(limit=0) == []
    assert cache.find("k1") is not None
    second.release()
    assert not cache.is_used("k1")
    cache.remove("k1")
    assert cache.find("k1") is None
    assert list(cache.folder.iterdir()) == []


def test_removing_by_force_takes_no_heed_of_runs(cache: Cache) -> None:
    build(cache, "k1")
    with cache.use("k1"):
        cache.remove("k1", force=True)
        assert cache.find("k1") is None


def test_what_is_being_built_is_not_removed_even_by_force(cache: Cache, tmp_path: Path) -> None:
    diary, hold = tmp_path / "diary", tmp_path / "hold"
    hold.touch()
    process = builder(cache, diary, hold)
    try:
        wait_for(lambda: bool(lines(diary)))
        with pytest.raises(InUse):
            cache.remove("k1", force=True)
        assert cache.collect(limit=0) == []
        assert cache.leftovers() == []
        hold.unlink()
        assert "got" in process.communicate(timeout=SECONDS)[0]
    finally:
        process.kill()
        process.communicate()
    assert cache.find("k1") is not None


def test_removing_what_is_not_there_does_nothing(cache: Cache) -> None:
    cache.remove("k1")
    build(cache, "k2")
    cache.remove("k1")
    assert [entry.key for entry in cache.entries()] == ["k2"]


def test_those_not_used_for_the_longest_time_go_first(cache: Cache) -> None:
    for age, key in enumerate(["new", "middle", "old"]):
        build(cache, key)
        used_ago(cache, key, age * 100)
    assert [entry.key for entry in cache.entries()] == ["new", "middle", "old"]
    size = cache.entries()[0].size
    assert [entry.key for entry in cache.collect(limit=2 * size)] == ["old"]
    assert cache.find("middle") is not None  # which makes it the one that was used last
    assert [entry.key for entry in cache.collect(limit=size)] == ["new"]
    assert [entry.key for entry in cache.entries()] == ["middle"]


def test_those_not_used_for_a_time_go(cache: Cache) -> None:
    build(cache, "new")
    build(cache, "old")
    used_ago(cache, "old", 1000)
    assert [entry.key for entry in cache.collect(unused_for=500)] == ["old"]
    assert [entry.key for entry in cache.entries()] == ["new"]


def test_sweeping_removes_leftovers_and_nothing_else(cache: Cache) -> None:
    build(cache, "k1")
    (cache.folder / "k2" / "lib").mkdir(parents=True)
    (cache.folder / "k3.abc.gone" / "lib").mkdir(parents=True)
    (cache.folder / ".k1.json.123").write_text("{")
    (cache.folder / "k4.lock").touch()
    assert sorted(path.name for path in cache.leftovers()) == ["k2", "k3.abc.gone"]
    assert cache.sweep() == 2
    assert sorted(path.name for path in cache.folder.iterdir()) == ["k1", "k1.json", "k1.lock"]
    assert cache.find("k1") is not None


def test_names_are_gathered_and_do_not_count_as_a_use(cache: Cache) -> None:
    build(cache, "k1")
    used_ago(cache, "k1", 1000)
    cache.name("k1", "yours")
    cache.name("k1", "yours")
    entry = cache.entries()[0]
    assert entry.names == ["mine", "yours"]
    assert entry.used_at < time.time() - 900


def test_the_entry_is_json_for_people(cache: Cache) -> None:
    build(cache, "k1")
    said = json.loads((cache.folder / "k1.json").read_text())
    assert said["built"]["python"] == "3.11.2"
    assert said["names"] == ["mine"]
