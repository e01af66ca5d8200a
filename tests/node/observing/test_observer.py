"""The series that a node runner records of itself: complete lines, whatever the disk does, and none of them twice."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from runyard.contracts import journal
from runyard.contracts.observed import load
from runyard.node.observing import observer
from runyard.node.observing.observer import Observer


def lines(folder: Path) -> list[Any]:
    (file,) = (folder / "observed" / "journal").glob("*.jsonl")
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_a_run_is_looked_at_until_it_ends(tmp_path: Path) -> None:
    watch = Observer(tmp_path, "run_1", 3)
    watch.begin()
    watch.end()
    (file,) = (tmp_path / "observed" / "journal").glob("*.jsonl")
    run_id, writer = journal.parse_file_name(file.name)
    assert (run_id, journal.rank_of(writer)) == ("run_1", 3)
    found = lines(tmp_path)
    assert all(each[:2] == ["o", "system"] for each in found)
    assert load.CORES in found[0][4]
    assert not [thread for thread in threading.enumerate() if thread.name == "observer"]


def test_what_a_machine_has_is_told_once(tmp_path: Path) -> None:
    watch = Observer(tmp_path, "run_1", 0)
    watch._write({load.CORES: 8.0, load.MEMORY_LIMIT: 100.0, load.CPU: 1.5})
    watch._write({load.CORES: 8.0, load.MEMORY_LIMIT: 100.0, load.CPU: 1.25})
    watch._write({load.CORES: 8.0, load.MEMORY_LIMIT: 120.0})
    assert [each[4] for each in lines(tmp_path)] == [
        {load.CORES: 8, load.MEMORY_LIMIT: 100, load.CPU: 1.5},
        {load.CPU: 1.25},
        {load.MEMORY_LIMIT: 120},
    ]


def test_a_full_disk_leaves_whole_lines(tmp_path: Path, disk_of: Callable[[str], Path]) -> None:
    disk = disk_of("64k")
    watch = Observer(disk, "run_1", 0)
    watch._write({load.CPU: 0.0})
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as stream:
        try:
            while True:
                stream.write(b"x" * 4096)
        except OSError:
            pass
    for number in range(400):
        watch._write({load.CPU: float(number)})
    filler.unlink()
    watch._write({load.CPU: 7777.0})
    watch._write({load.CPU: 8888.0})
    found = [each[4][load.CPU] for each in lines(disk)]
    assert found[0] == 0
    assert found[-1] == 8888
    assert len(found) < 402


def test_looking_never_takes_more_than_its_share() -> None:
    for cost in (0.0001, 0.01, 0.5):
        for age in (0.0, 100.0, 1e6):
            for moves in (False, True):
                assert cost / observer.pause(age, cost, moves) <= observer.SHARE
