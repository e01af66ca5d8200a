"""If these fail, a program is asked at every run, or believed after it was replaced."""

from __future__ import annotations

import os
from pathlib import Path

from tests.support.bad_json import every_bad_text

from runyard.environments.remembered import Remembered


def test_a_program_is_asked_once_until_its_file_changes(tmp_path: Path) -> None:
    program, memory = tmp_path / "program", tmp_path / "answers.json"
    program.write_text("one")
    asked: list[str] = []

    def ask() -> list[str]:
        asked.append(program.read_text())
        return asked[-1:]

    for _ in range(2):
        known = Remembered(memory)
        assert known.answer(str(program), ask) == ["one"]
        known.save()
    assert asked == ["one"]
    program.write_text("another")
    assert Remembered(memory).answer(str(program), ask) == ["another"]


@every_bad_text
def test_a_memory_that_cannot_be_read_is_none(tmp_path: Path, text: bytes) -> None:
    program, memory = tmp_path / "program", tmp_path / "answers.json"
    program.touch()
    memory.write_bytes(text)
    known = Remembered(memory)
    assert known.answer(str(program), lambda: ["asked"]) == ["asked"]
    known.save()
    assert Remembered(memory).answer(str(program), lambda: ["asked again"]) == ["asked"]


def test_no_answer_is_an_answer_too(tmp_path: Path) -> None:
    program, memory = tmp_path / "program", tmp_path / "answers.json"
    program.touch()
    first = Remembered(memory)
    assert first.answer(str(program), list) == []
    first.save()
    assert Remembered(memory).answer(str(program), lambda: ["asked again"]) == []


def test_programs_that_are_gone_are_forgotten(tmp_path: Path) -> None:
    program, memory = tmp_path / "program", tmp_path / "answers.json"
    program.touch()
    known = Remembered(memory)
    known.answer(str(program), list)
    os.unlink(program)
    known.save()
    assert not memory.exists()


def test_what_cannot_be_read_or_written_is_no_harm(tmp_path: Path) -> None:
    (tmp_path / "answers.json").write_text("[1")
    known = Remembered(tmp_path / "answers.json")
    assert known.answer(str(tmp_path), lambda: ["x"]) == ["x"]
    nowhere = Remembered(tmp_path / "answers.json" / "below" / "a file")
    nowhere.answer(str(tmp_path), list)
    nowhere.save()
    Remembered(None).save()
