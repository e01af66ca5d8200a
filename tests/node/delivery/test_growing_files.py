"""Every byte of a log reaches the server once and in order, whatever is done to the file meanwhile."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runyard.node.delivery.growing_files import GrowingFile, LogFolder

if TYPE_CHECKING:
    from tests.node.conftest import Courier, RunOnServer

NAME = "user_logs/std_log.txt"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log.txt"


def store(run: RunOnServer, content: bytes) -> None:
    """Have the server hold this of the log, as a former node runner may have left it."""
    path = f"/api/runs/{run.id}/appends/{NAME}"
    run.server.client.post(path, body=content, params={"offset": 0, "restart": True})


def append(path: Path, content: bytes) -> None:
    with open(path, "ab") as file:
        file.write(content)


def test_characters_that_are_written_in_two_halves(courier: Courier, run: RunOnServer, log: Path) -> None:
    followed = GrowingFile(log, NAME)
    assert not courier.send_new(followed), "it is not there yet"
    whole = "größer 日本\n".encode()
    for byte in whole:
        append(log, bytes([byte]))
        assert courier.send_new(followed)
    assert not courier.send_new(followed)
    assert run.read(NAME) == whole


def test_a_large_burst_goes_in_pieces(courier: Courier, run: RunOnServer, log: Path) -> None:
    content = os.urandom(12_000_000)
    append(log, content)
    followed = GrowingFile(log, NAME)
    assert courier.send_new(followed)
    assert 0 < run.files()[NAME] < len(content), "the other files have their turn in between"
    courier.send_rest(followed)
    assert run.read(NAME) == content


def test_a_truncated_file_begins_anew(courier: Courier, run: RunOnServer, log: Path) -> None:
    followed = GrowingFile(log, NAME)
    append(log, b"the first epoch\n")
    courier.send_new(followed)
    log.write_bytes(b"")
    courier.send_new(followed)
    assert run.read(NAME) == b""
    append(log, b"anew\n")
    courier.send_new(followed)
    assert run.read(NAME) == b"anew\n"


def test_a_file_that_is_written_over_with_more_than_before(courier: Courier, run: RunOnServer, log: Path) -> None:
    followed = GrowingFile(log, NAME)
    for epoch in (b"epoch 9", b"epoch 10", b"epoch 100 of 100"):
        log.write_bytes(epoch)
        courier.send_new(followed)
        assert run.read(NAME) == epoch


def test_a_file_that_was_rotated(courier: Courier, run: RunOnServer, log: Path) -> None:
    followed = GrowingFile(log, NAME)
    append(log, b"old")
    courier.send_new(followed)
    os.rename(log, log.with_suffix(".1"))
    assert not courier.send_new(followed)
    append(log, b"old and new")
    courier.send_new(followed)
    assert run.read(NAME) == b"old and new"


def test_a_change_far_from_the_end_is_found_at_the_end(courier: Courier, run: RunOnServer, log: Path) -> None:
    followed = GrowingFile(log, NAME)
    append(log, b"0" * 10_000)
    courier.send_new(followed)
    with open(log, "r+b") as file:
        file.write(b"1")
    courier.send_rest(followed)
    assert run.read(NAME) == b"1" + b"0" * 9_999


@pytest.mark.parametrize("sent", [0, 4, 11])
def test_another_runner_goes_on_where_the_server_is(courier: Courier, run: RunOnServer, log: Path, sent: int) -> None:
    content = b"hello world"
    if sent:
        store(run, content[:sent])
    append(log, content)
    followed = GrowingFile(log, NAME, resume=True)
    courier.send_rest(followed)
    assert run.read(NAME) == content


def test_another_runner_finds_less_than_the_server_has(courier: Courier, run: RunOnServer, log: Path) -> None:
    store(run, b"what was there before it was truncated")
    append(log, b"new")
    courier.send_rest(GrowingFile(log, NAME, resume=True))
    assert run.read(NAME) == b"new"


def test_a_server_that_lost_some_gets_it_again(courier: Courier, run: RunOnServer, log: Path) -> None:
    followed = GrowingFile(log, NAME)
    append(log, b"first ")
    courier.send_new(followed)
    store(run, b"fir")  # as if an older copy of the server's disk had been put back
    append(log, b"second")
    courier.send_rest(followed)
    assert run.read(NAME) == b"first second"


def test_a_refusal_becomes_a_warning(courier: Courier, log: Path) -> None:
    append(log, b"x")
    followed = GrowingFile(log, "logs/../../etc/passwd")
    assert not courier.send_new(followed)
    [warning] = followed.warnings
    assert "refused" in warning
    courier.send_rest(followed)


def test_a_folder_and_what_lies_below_it(courier: Courier, run: RunOnServer, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    (folder / "deep" / "er").mkdir(parents=True)
    content = {"a.txt": b"1", "deep/b c.txt": b"22", "deep/er/日本.log": b"333"}
    for name, text in content.items():
        (folder / name).write_bytes(text)
    os.mkfifo(folder / "pipe")
    (folder / "nowhere").symlink_to("/no/where")
    (folder / "up").symlink_to(folder)
    (folder / "linked").symlink_to(folder / "a.txt")
    followed = LogFolder(folder, "logs")
    assert courier.send_new(followed)
    append(folder / "a.txt", b"!")
    courier.send_rest(followed)
    expected = {"a.txt": b"1!", "deep/b c.txt": b"22", "deep/er/日本.log": b"333", "linked": b"1!"}
    assert {name for name in run.files() if name.startswith("logs/")} == {f"logs/{name}" for name in expected}
    for name, text in expected.items():
        assert run.read(f"logs/{name}") == text


def test_names_that_are_no_text(courier: Courier, run: RunOnServer, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "bad-\udcff").write_bytes(b"x")
    courier.send_rest(LogFolder(folder, "logs"))
    assert run.read("logs/bad-%FF") == b"x"


def test_a_pipe_in_the_place_of_a_log_keeps_nobody_waiting(courier: Courier, run: RunOnServer, log: Path) -> None:
    followed = GrowingFile(log, NAME)
    append(log, b"before")
    assert courier.send_new(followed)
    log.unlink()
    os.mkfifo(log)
    assert not courier.send_new(followed)
    courier.send_rest(followed)
    assert run.read(NAME) == b"before"
