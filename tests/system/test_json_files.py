"""If these fail, a file that was damaged ends its reader with an error that tells nobody which file it was."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.support.bad_json import NOT_AN_OBJECT, every_bad_text

from runyard.contracts import home as homes
from runyard.contracts.plan import Launch, Plan
from runyard.system.json_files import BadFile, is_process, made_of, read_object


@dataclass(frozen=True)
class Sample:
    name: str
    number: int
    share: float = 0.5
    on: bool = False
    note: str | None = None
    items: list[str] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "some.json"


@pytest.mark.parametrize("text", NOT_AN_OBJECT, ids=lambda text: repr(text[:30]))
def test_what_is_no_object_is_told_with_its_file(path: Path, text: bytes) -> None:
    path.write_bytes(text)
    with pytest.raises(BadFile, match=r"some\.json does not hold"):
        read_object(path)


def test_a_missing_file_is_no_bad_one(path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_object(path)


def test_fields_are_taken_and_what_is_unknown_passed_over(path: Path) -> None:
    document = {"name": "n", "number": 1, "share": 1, "note": "s", "items": ["a"], "of a newer version": True}
    assert made_of(Sample, document, path) == Sample("n", 1, 1, note="s", items=["a"])
    assert made_of(Sample, {"name": "n", "number": 1, "note": None}, path) == Sample("n", 1)


@pytest.mark.parametrize(
    "more",
    [
        {"name": None},
        {"number": True},
        {"number": 1.0},
        {"number": "1"},
        {"share": "x"},
        {"on": 1},
        {"note": 1},
        {"items": {}},
        {"texts": []},
    ],
)
def test_a_field_of_another_type_is_named(path: Path, more: dict[str, object]) -> None:
    with pytest.raises(BadFile, match=f"{next(iter(more))!r} is not of type"):
        made_of(Sample, {"name": "n", "number": 1, **more}, path)


def test_a_missing_field_is_named(path: Path) -> None:
    with pytest.raises(BadFile, match="'number' is missing"):
        made_of(Sample, {"name": "n"}, path)


@pytest.mark.parametrize("pid", [0, -1, 1 << 40, True, "7", None, 1.0])
def test_a_signal_is_never_sent_to_many(pid: object) -> None:
    assert not is_process(pid)


@every_bad_text
def test_a_server_is_not_found_by_a_bad_file(tmp_path: Path, text: bytes) -> None:
    homes.server_file(tmp_path).write_bytes(text)
    assert homes.read_server(tmp_path) is None


@every_bad_text
def test_a_bad_plan_is_told(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "plan.json").write_bytes(text)
    with pytest.raises(BadFile, match=r"plan\.json does not hold"):
        Plan.load(tmp_path)


def test_a_plan_comes_back_as_it_was(tmp_path: Path) -> None:
    message = ("run", "run", "e", "e-1", "local", "", "", "local", "token", "http://127.0.0.1:1")
    plan = Plan(*message, Launch(command="true", shell={"A": "b"}), snapshot_id="s", grace_seconds=2)
    plan.save(tmp_path)
    assert Plan.load(tmp_path) == plan


def test_a_token_that_is_no_text_is_none(tmp_path: Path) -> None:
    (tmp_path / "token").write_bytes(b"\xff\xfe")
    assert homes.read_token(tmp_path) is None


def test_what_lies_where_a_private_file_is_written_is_left_alone(tmp_path: Path) -> None:
    """Another user may guess the name under which a file is written aside, and put a link there."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("kept")
    (tmp_path / f".token.{os.getpid()}").symlink_to(elsewhere)
    homes.write_private(tmp_path / "token", "one\n")
    assert elsewhere.read_text() == "kept"
    assert (tmp_path / "token").stat().st_mode & 0o777 == 0o600
    assert not (tmp_path / "token").is_symlink()
