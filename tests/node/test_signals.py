"""A stop is never missed, whenever it comes, and what is waited for wakes the one who waits."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import pytest

from runyard.node.signals import Signals

FOREVER = 600.0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_that_comes_before_anybody_waits_is_remembered(signals: Signals, number: signal.Signals) -> None:
    assert not signals.stop_requested
    os.kill(os.getpid(), number)
    signals.wait(FOREVER)
    assert signals.stop_requested


@pytest.mark.parametrize("number", [signal.SIGCHLD, signal.SIGHUP])
def test_other_signals_wake_and_stop_nothing(signals: Signals, number: signal.Signals) -> None:
    os.kill(os.getpid(), number)
    signals.wait(FOREVER)
    assert not signals.stop_requested


def test_another_thread_wakes_the_one_that_waits(signals: Signals) -> None:
    thread = threading.Thread(target=signals.wake)
    thread.start()
    signals.wait(FOREVER)
    thread.join()
    assert not signals.stop_requested


def test_another_thread_can_request_a_stop(signals: Signals) -> None:
    thread = threading.Thread(target=signals.request_stop)
    thread.start()
    signals.wait(FOREVER)
    thread.join()
    assert signals.stop_requested


def test_any_number_of_wakes_blocks_nobody(signals: Signals) -> None:
    for _ in range(100_000):  # more than fits into a pipe
        signals.wake()
    signals.wait(FOREVER)


def test_a_process_that_ends_wakes_the_one_that_waits(signals: Signals) -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    signals.wait(FOREVER)
    assert child.wait(60) == 0
