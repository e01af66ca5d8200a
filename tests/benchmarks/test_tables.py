"""The benchmark of tables measures readers that read the same rows."""

from __future__ import annotations

from pathlib import Path

from benchmarks.tables import READERS, make, read


def test_all_readers_read_all_rows(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    make(path, 1)
    assert [read(name, str(path)) for name in READERS] == [20_000] * len(READERS)
