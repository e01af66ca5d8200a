"""A folder for the snapshot benchmark: many small files, a few big ones, the same bytes each time."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure import wait_until

BIG_FILES = 5
FOLDER_FILES = 100
SETTLED_SECONDS = 3.0


@dataclass(frozen=True)
class Shape:
    files: int
    size: int

    def words(self) -> str:
        return f"{self.files:,} files, {self.size / 1e6:,.0f} MB"


def make(folder: Path, shape: Shape) -> None:
    """Half of the bytes are in big files, half in small ones of various sizes."""
    source = random.Random(shape.files)
    for number in range(BIG_FILES):
        _write(folder / "weights" / f"part{number}.bin", source, shape.size // 2 // BIG_FILES)
    small = shape.files - BIG_FILES
    mean = shape.size // 2 // small
    for number in range(small):
        group, leaf = number // FOLDER_FILES // 10, number // FOLDER_FILES
        _write(
            folder / f"group{group}" / f"folder{leaf}" / f"file{number}.dat",
            source,
            source.randrange(mean // 2, mean * 3 // 2),
        )
    _settle()


def change_one(folder: Path, version: int) -> None:
    """Give one small file other bytes."""
    path = folder / "group0" / "folder0" / "file0.dat"
    path.write_bytes(random.Random(version).randbytes(path.stat().st_size))


def _write(path: Path, source: random.Random, size: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        while size > 0:
            file.write(source.randbytes(min(size, 1 << 20)))
            size -= 1 << 20


def _settle() -> None:
    """Let the files grow a little old: nobody can trust the time of a file that was written this very moment."""
    done = time.monotonic() + SETTLED_SECONDS
    wait_until(lambda: time.monotonic() > done, "the files' settling", interval=0.1)
