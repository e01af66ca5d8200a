"""If these fail, a node of a Ray cluster reports a wrong end, or a run sees the variables of its worker."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from runyard.engines.ray import tether
from runyard.engines.ray.node_task import environment_of_node, run_node, signal_name

TETHER = Path(tether.__file__).read_text("utf-8")


@pytest.fixture(autouse=True)
def handler() -> Iterator[None]:
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)


def test_the_exit_code_and_the_end_of_the_output_are_returned() -> None:
    script = "import os; print('x' * 5000); print(os.environ['MINE']); raise SystemExit(3)"
    code, output = run_node(TETHER, [sys.executable, "-c", script], {"MINE": "yes"})
    assert code == 3
    assert output.endswith("x\nyes")
    assert len(output) <= 2000


def test_a_command_that_is_not_there_is_reported() -> None:
    assert run_node(TETHER, ["/no/python", "-c", ""], {}) == (
        127,
        "/no/python cannot be started on this node: No such file or directory",
    )


def test_a_cancelled_task_asks_its_runner_to_stop(tmp_path: Path) -> None:
    script = f"""
import pathlib, signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(5))
pathlib.Path({str(tmp_path / "there")!r}).touch()
time.sleep(600)
"""

    def cancel() -> None:
        while not (tmp_path / "there").exists():
            pause.wait(0.02)
        os.kill(os.getpid(), signal.SIGINT)  # as Ray does it

    pause = threading.Event()
    canceller = threading.Thread(target=cancel)
    canceller.start()
    assert run_node(TETHER, [sys.executable, "-c", script], {})[0] == 5
    canceller.join()


def test_variables_of_ray_stay_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "here")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    assert "RAY_ADDRESS" not in environment_of_node()
    assert environment_of_node()["CUDA_VISIBLE_DEVICES"] == "1"


def test_signals_have_names_or_numbers() -> None:
    assert (signal_name(9), signal_name(40)) == ("SIGKILL", "signal 40")
