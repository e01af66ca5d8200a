"""Every byte of a log reaches the server once and in order, whatever is done to the file meanwhile."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runyard.node.delivery.growing_files import GrowingFile, LogFolder
from runyard.node.delivery.retrying_client import RetryingClient

if TYPE_CHECKING:
    from tests.node.conftest import RunOnServer

NAME = "user_logs/std_log.txt"


@pytest.fixture
def client(run: RunOnServer, tmp_path: Path) -> RetryingClient:
    return run.client(tmp_path)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log.txt"


def append(path: Path, content: bytes) -> None:
    with open(path, "ab") as file:
        file.write(content)


def test_characters_that_are_written_in_two_halves(client: RetryingClient, run: RunOnServer, log: Path) -> None:
    followed = GrowingFile(client, log, NAME)
    assert not followed.send_new(), "it is not there yet"
    whole = "größer 日本\n".encode()
    for byte in whole:
        append(log, bytes([byte]))
        assert followed.send_new()
    assert not followed.send_new()
    assert run.read(NAME) == whole


def test_a_large_burst_goes_in_pieces(client: RetryingClient, run: RunOnServer, log: Path) -> None:
    content = os.urandom(12_000_000)
    append(log, content)
    followed = GrowingFile(client, log, NAME)
    assert followed.send_new()
    assert 0 < run.files()[NAME] < len(content), "the other files have their turn in between"
    followed.send_rest()
    assert run.read(NAME) == content


def test_a_truncated_file_begins_anew(client: RetryingClient, run: RunOnServer, log: Path) -> None:
    followed = GrowingFile(client, log, NAME)
    append(log, b"the first epoch\n")
    followed.send_new()
    log.write_bytes(b"")
    followed.send_new()
    assert run.read(NAME) == b""
    append(log, b"anew\n")
    followed.send_new()
    assert run.read(NAME) == b"anew\n"


def test_a_file_that_is_written_over_with_more_than_before(client: RetryingClient, run: RunOnServer, log: Path) -> None:
    followed = GrowingFile(client, log, NAME)
    for epoch in (b"epoch 9", b"epoch 10", b"epoch 100 of 100"):
        log.write_bytes(epoch)
        followed.send_new()
        assert run.read(NAME) == epoch


def test_a_file_that_was_rotated(client: RetryingClient, run: RunOnServer, log: Path) -> None:
    followed = GrowingFile(client, log, NAME)
    append(log, b"old")
    followed.send_new()
    os.rename(log, log.with_suffix(".1"))
    assert not followed.send_new()
    append(log, b"old and new")
    followed.send_new()
    assert run.read(NAME) == b"old and new"


def test_a_change_far_from_the_end_is_found_at_the_end(client: RetryingClient, run: RunOnServer, log: Path) -> None:
    followed = GrowingFile(client, log, NAME)
    append(log, b"0" * 10_000)
    followed.send_new()
    with open(log, "r+b") as file:
        file.write(b"1")
    followed.send_rest()
    assert run.read(NAME) == b"1" + b"0" * 9_999


@pytest.mark.parametrize("sent", [0, 4, 11])
def test_another_runner_goes_on_where_the_server_is(
    client: RetryingClient, run: RunOnServer, log: Path, sent: int
) -> None:
    content = b"hello world"
    if sent:
        client.append(NAME, 0, content[:sent])
    append(log, content)
    followed = GrowingFile(client, log, NAME, resume=True)
    followed.send_rest()
    assert run.read(NAME) == content


def test_another_runner_finds_less_than_the_server_has(client: RetryingClient, run: RunOnServer, log: Path) -> None:
    client.append(NAME, 0, b"what was there before it was truncated")
    append(log, b"new")
    GrowingFile(client, log, NAME, resume=True).send_rest()
    assert run.read(NAME) == b"new"


def test_a_server_that_lost_some_gets_it_again(client: RetryingClient, run: RunOnServer, log: Path) -> None:
    followed = GrowingFile(client, log, NAME)
    append(log, b"first ")
    followed.send_new()
    client.append(NAME, 0, b"fir", restart=True)  # as if an older copy of the server's disk had been put back
    append(log, b"second")
    followed.send_rest()
    assert run.read(NAME) == b"first second"


def test_a_refusal_becomes_a_warning(client: RetryingClient, log: Path) -> None:
    append(log, b"x")
    followed = GrowingFile(client, log, "logs/../../etc/passwd")
    assert not followed.send_new()
    [warning] = followed.warnings
    assert "refused" in warning
    followed.send_rest()


def test_a_folder_and_what_lies_below_it(client: RetryingClient, run: RunOnServer, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    (folder / "deep" / "er").mkdir(parents=True)
    content = {"a.txt": b"1", "deep/b c.txt": b"22", "deep/er/日本.log": b"333"}
    for name, text in content.items():
        (folder / name).write_bytes(text)
    os.mkfifo(folder / "pipe")
    (folder / "nowhere").symlink_to("/no/where")
    (folder / "up").symlink_to(folder)
    (folder / "linked").symlink_to(folder / "a.txt")
    followed = LogFolder(client, folder, "logs")
    assert followed.send_new()
    append(folder / "a.txt", b"!")
    followed.send_rest()
    expected = {"a.txt": b"1!", "deep/b c.txt": b"22", "deep/er/日本.log": b"333", "linked": b"1!"}
    assert {name for name in run.files() if name.startswith("logs/")} == {f"logs/{name}" for name in expected}
    for name, text in expected.items():
        assert run.read(f"logs/{name}") == text


def test_names_that_are_no_text(client: RetryingClient, run: RunOnServer, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "bad-\udcff").write_bytes(b"x")
    LogFolder(client, folder, "logs").send_rest()
    assert run.read("logs/bad-%FF") == b"x"


def test_a_pipe_in_the_place_of_a_log_keeps_nobody_waiting(client: RetryingClient, run: RunOnServer, log: Path) -> None:
    followed = GrowingFile(client, log, NAME)
    append(log, b"before")
    assert followed.send_new()
    log.unlink()
    os.mkfifo(log)
    assert not followed.send_new()
    followed.send_rest()
    assert run.read(NAME) == b"before"
