"""Event files become lines of a journal: the same lines whoever reads, none lost and none twice."""

from __future__ import annotations

import io
import json
import math
import os
import struct
from pathlib import Path
from typing import Any

import pytest

from runyard.contracts.formats.event_files import EventFile, Scalar
from runyard.node.delivery.event_file_reader import SKIPPED_FROM, EventFileReader


def frames(values: list[float], tag: str = "loss", first: int = 0) -> bytes:
    stream = io.BytesIO()
    file = EventFile(stream, 1.0)
    file.add([Scalar(tag, value, first + number, 100.0 + number) for number, value in enumerate(values)])
    return stream.getvalue()


def reader(tmp_path: Path, path: Path, prefix: str = "") -> EventFileReader:
    return EventFileReader(str(path), "logs/events", prefix, tmp_path / "telemetry", "run_1", lambda tag: True)


def read_all(file: EventFileReader) -> None:
    while file.read_some():
        pass


def lines(tmp_path: Path) -> list[Any]:
    files = sorted((tmp_path / "telemetry/journal").glob("*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def test_a_file_that_grows_byte_by_byte(tmp_path: Path) -> None:
    data, path = frames([0.5, math.nan, math.inf]), tmp_path / "f"
    file = reader(tmp_path, path, "train/")
    assert not file.read_some()  # it is not there yet
    for byte in range(len(data)):
        with path.open("ab") as stream:
            stream.write(data[byte : byte + 1])
        file.read_some()
    assert lines(tmp_path) == [
        ["o", "events", 100.0, 0, {"train/loss": 0.5}],
        ["o", "events", 101.0, 1, {"train/loss": {"f": "nan"}}],
        ["o", "events", 102.0, 2, {"train/loss": {"f": "inf"}}],
    ]


def test_whoever_goes_on_after_a_death_writes_no_line_twice(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(frames([1.0, 2.0]))
    read_all(reader(tmp_path, path))
    (journal,) = (tmp_path / "telemetry/journal").glob("*.jsonl")
    whole = journal.read_bytes()
    journal.write_bytes(whole[:-7])  # it was killed while it wrote
    with path.open("ab") as stream:
        stream.write(frames([3.0], first=2))
    read_all(reader(tmp_path, path))
    assert [list(line[4].values()) for line in lines(tmp_path)] == [[1.0], [2.0], [3.0]]
    assert journal.read_bytes().startswith(whole)


def test_a_copy_that_begins_the_same_is_the_same_file_and_another_one_is_not(tmp_path: Path) -> None:
    path, copy = tmp_path / "f", tmp_path / "g"
    path.write_bytes(frames([1.0]))
    file = reader(tmp_path, path)
    read_all(file)
    copy.write_bytes(frames([1.0]) + frames([2.0], first=1))
    copy.replace(path)
    read_all(file)
    assert [line[3] for line in lines(tmp_path)] == [0, 1]
    path.write_bytes(frames([7.0], tag="other"))  # in place, and shorter
    read_all(file)
    path.write_bytes(frames([8.0, 9.0, 10.0], tag="third"))  # in place, and longer
    read_all(file)
    assert [next(iter(line[4].items())) for line in lines(tmp_path)] == [
        ("loss", 1.0),
        ("loss", 2.0),
        ("other", 7.0),
        ("third", 8.0),
        ("third", 9.0),
        ("third", 10.0),
    ]


def test_what_is_before_the_damage_is_kept_and_the_damage_is_told(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(frames([1.0, 2.0]) + struct.pack("<QI", 3, 0) + b"\xff\xff\xff" + b"0000" + frames([9.0]))
    file = reader(tmp_path, path)
    read_all(file)
    assert [line[3] for line in lines(tmp_path)] == [0, 1]
    assert file.warning is not None
    assert file.warning.startswith("logs/events is not read any further")
    read_all(file)
    assert len(lines(tmp_path)) == 2


@pytest.mark.parametrize("length", [1 << 29, (1 << 64) - 1])
def test_a_length_that_no_record_has(tmp_path: Path, length: int) -> None:
    path = tmp_path / "f"
    path.write_bytes(frames([1.0]) + struct.pack("<QI", length, 0) + b"x" * 100)
    file = reader(tmp_path, path)
    read_all(file)
    read_all(file)
    assert file.warning is not None
    assert len(lines(tmp_path)) == 1


def test_a_large_picture_is_passed_over_without_being_read(tmp_path: Path) -> None:
    path = tmp_path / "f"
    size = SKIPPED_FROM + 1
    with path.open("wb") as stream:
        stream.write(frames([1.0]) + struct.pack("<QI", size, 0))
        stream.seek(size, os.SEEK_CUR)  # a hole
        stream.write(b"\0" * 4 + frames([2.0], first=1))
    file = reader(tmp_path, path)
    for _ in range(4):
        file.read_some()
    assert [line[3] for line in lines(tmp_path)] == [0, 1]
    assert file.warning is None


def test_odd_tags_times_and_steps(tmp_path: Path) -> None:
    stream = io.BytesIO()
    EventFile(stream, 1.0).add(
        [Scalar("", 1.0, 0, math.nan), Scalar("t" * 100_000, 1.0, -(1 << 63), 5.0), Scalar("<b>\0\n\x1b", 1.0, 2, 6.0)]
    )
    path = tmp_path / "f"
    path.write_bytes(stream.getvalue())
    read_all(reader(tmp_path, path))
    assert [line[2:] for line in lines(tmp_path)] == [
        [0.0, 0, {"scalar": 1.0}],
        [5.0, None, {"t" * 500: 1.0}],
        [6.0, 2, {"<b>\0\n\x1b": 1.0}],
    ]
