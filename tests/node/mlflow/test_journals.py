"""Journals of what MLflow logs: nothing that was answered is missing from them."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from runyard.node.mlflow import journals
from runyard.node.mlflow.journals import Journals


def test_threads_share_a_journal_and_lose_nothing(tmp_path: Path) -> None:
    held = Journals(tmp_path)

    def write(number: int) -> None:
        for step in range(200):
            held.write("run-1", journals.value(f"m{number}", step, 1.0, step))

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    [file] = (tmp_path / "journal").glob("run-1@mlflow-*.jsonl")
    records = [json.loads(line) for line in file.read_text().splitlines()]
    assert len(records) == 800
    for number in range(4):
        assert [record[4] for record in records if record[1] == f"m{number}"] == list(range(200))
    assert not held.deliver(0.0)
    file.with_suffix(".ack").write_text(str(file.stat().st_size))
    assert held.deliver(0.0)


def test_a_file_that_breaks_off_leaves_nothing(tmp_path: Path) -> None:
    held = Journals(tmp_path)

    def broken() -> object:
        yield b"some"
        raise ConnectionError("the script was killed")

    with pytest.raises(ConnectionError):
        held.spool(broken())  # type: ignore[arg-type]
    assert list((tmp_path / "spool").iterdir()) == []
    assert (tmp_path / "spool" / held.spool([b"a", b"b"])).read_bytes() == b"ab"
