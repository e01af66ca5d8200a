"""What wakes the thread that delivers: its own process at once, and scripts that ask for a flush."""

from __future__ import annotations

import os
import select
import stat
import threading
import time
from pathlib import Path

import pytest

from runyard.contracts.journal import FLUSH, WAKE
from runyard.node.delivery.wake import Wake


def listening(telemetry: Path) -> Wake:
    wake = Wake()
    wake.listen(telemetry)
    wake.clear()
    return wake


def is_set(wake: Wake) -> bool:
    return bool(select.select([wake.fileno()], [], [], 0)[0])


def test_it_is_set_and_cleared(tmp_path: Path) -> None:
    for wake in (Wake(), listening(tmp_path)):
        assert not is_set(wake)
        assert not wake.clear()
        wake.set()
        assert is_set(wake)
        assert not wake.clear(), "nobody asked for a flush"
        assert not is_set(wake)
        wake.close()


def test_a_script_asks_for_a_flush(tmp_path: Path) -> None:
    wake = listening(tmp_path / "telemetry")
    writer = os.open(tmp_path / "telemetry" / WAKE, os.O_WRONLY | os.O_NONBLOCK)
    os.write(writer, FLUSH)
    os.close(writer)
    wake.set()
    assert is_set(wake)
    assert wake.clear()
    assert not is_set(wake), "that the writer has closed it is nothing to be read"
    wake.close()


def test_what_was_set_before_it_listens_is_not_forgotten(tmp_path: Path) -> None:
    wake = Wake()
    wake.set()
    wake.listen(tmp_path)
    assert is_set(wake)
    wake.close()


def test_a_successor_takes_the_pipe_of_its_predecessor(tmp_path: Path) -> None:
    listening(tmp_path).close()
    wake = listening(tmp_path)
    writer = os.open(tmp_path / WAKE, os.O_WRONLY | os.O_NONBLOCK)
    os.write(writer, FLUSH)
    os.close(writer)
    assert wake.clear()
    wake.close()


def test_what_is_set_while_it_begins_to_listen_finds_a_reader(tmp_path: Path) -> None:
    wakes = [Wake() for _ in range(200)]
    failures: list[OSError] = []

    def nudge() -> None:
        for wake in wakes:
            try:
                while not heard.is_set():
                    wake.set()
            except OSError as error:
                failures.append(error)
            turn.wait()
            heard.clear()
            turn.wait()

    heard, turn = threading.Event(), threading.Barrier(2, timeout=60)
    thread = threading.Thread(target=nudge)
    thread.start()
    for wake in wakes:
        time.sleep(0)
        wake.listen(tmp_path)
        heard.set()
        turn.wait()
        turn.wait()
    thread.join()
    for wake in wakes:
        wake.close()
    assert failures == []


@pytest.mark.parametrize("in_its_place", ["no folder", "a file"])
def test_where_there_can_be_no_pipe_it_still_wakes(tmp_path: Path, in_its_place: str) -> None:
    if in_its_place == "a file":
        (tmp_path / WAKE).write_text("x")
    wake = listening(tmp_path if in_its_place == "a file" else tmp_path / "none" / "telemetry")
    assert not is_set(wake)
    wake.set()
    assert is_set(wake)
    assert stat.S_ISFIFO(os.fstat(wake.fileno()).st_mode)
    wake.close()


def test_one_that_is_full_keeps_nobody_waiting(tmp_path: Path) -> None:
    wake = listening(tmp_path)
    for _ in range(70_000):
        wake.set()
    wake.clear()
    wake.close()
