"""Which event files are found, and that a script with very many cannot hold everything else up."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from runyard.contracts.formats.event_files import EventFile, Scalar
from runyard.node.delivery import event_files
from runyard.node.delivery.batch import Batch
from runyard.node.delivery.event_files import EventFiles


def write(path: Path, tags: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    stream = io.BytesIO()
    EventFile(stream, 1.0).add([Scalar(tag, 1.0, 0, 1.0) for tag in tags])
    path.write_bytes(stream.getvalue())


def gather(files: EventFiles) -> None:
    while True:
        batch = Batch()
        files.gather_rest(batch)
        if not batch.more:
            return


def journals(folder: Path) -> str:
    return "".join(sorted(path.read_text() for path in folder.glob("journal/*.jsonl")))


def test_they_are_found_below_logs_and_outputs_wherever_they_are(tmp_path: Path) -> None:
    logs, outputs = tmp_path / "logs", tmp_path / "outputs"
    write(logs / "events.out.tfevents.1.host", ["a"])
    write(logs / "validation" / "events.out.tfevents.2.host.v2", ["b"])
    write(outputs / "deep" / "er" / "x.tfevents", ["c"])
    (logs / "tfevents-is-a-pipe").parent.mkdir(exist_ok=True)
    os.mkfifo(logs / "tfevents-is-a-pipe")
    (logs / "text.txt").write_text("no event file")
    files = EventFiles([logs, outputs, tmp_path / "missing"], tmp_path / "telemetry", "run_1")
    gather(files)
    text = journals(tmp_path / "telemetry")
    assert [name for name in ('"a"', '"validation/b"', '"deep/er/c"') if name in text] == [
        '"a"',
        '"validation/b"',
        '"deep/er/c"',
    ]
    assert text.count("\n") == 3
    assert files.warnings == []


def test_a_script_with_more_tags_than_can_be_drawn_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_files, "MOST_TAGS", 5)
    write(tmp_path / "logs" / "a.tfevents", [f"tag{number}" for number in range(9)])
    files = EventFiles([tmp_path / "logs"], tmp_path / "telemetry", "run_1")
    gather(files)
    assert journals(tmp_path / "telemetry").count("\n") == 5
    assert "more than 5 tags" in files.warnings[0]


def test_one_look_takes_a_part_of_what_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_files, "AT_ONCE", 1)
    for number in range(4):
        write(tmp_path / "logs" / f"{number}.tfevents", ["a"])
    files = EventFiles([tmp_path / "logs"], tmp_path / "telemetry", "run_1")
    batch = Batch()
    files.gather(batch)
    assert batch.more
    assert journals(tmp_path / "telemetry").count("\n") == 1
    gather(files)
    assert journals(tmp_path / "telemetry").count("\n") == 4
