"""Why a replica does not answer, in words that say what to do."""

from __future__ import annotations

from pathlib import Path

from runyard.contracts.plan import Launch
from runyard.contracts.services.plan import ServicePlan
from runyard.contracts.services.settings import Settings
from runyard.contracts.services.worker import INIT_FAILED, WorkerError, WorkerStatus
from runyard.node.outcome.exits import Exit
from runyard.node.services import cause

PLAN = ServicePlan("mine", "/f", "/f/listener", 1, "127.0.0.1", 1, Settings(memory_gb=0.5))


def told(exit: Exit, status: WorkerStatus | None = None, starved: bool = False, log: str = "") -> cause.Error:
    return cause.of_exit(Launch(), PLAN, exit, status, Path("/work"), Path(log or "/none"), starved)


def test_the_line_of_init_and_the_package_to_add() -> None:
    error = WorkerError("ModuleNotFoundError", "No module named 'sklearn'", "/code/score.py", 3, "Traceback ...")
    found = told(Exit(INIT_FAILED, None), WorkerStatus(error=error))
    assert found["message"] == "ModuleNotFoundError: No module named 'sklearn' (score.py, line 3)"
    assert 'add_pip_package("scikit-learn")' in found["help"]
    assert found["traceback"] == "Traceback ..."
    assert cause.is_hopeless(found)


def test_no_memory_is_called_no_memory() -> None:
    found = told(Exit(None, 9), starved=True)
    assert found["code"] == "OutOfMemory"
    assert "0.5 GB" in found["message"]
    assert "SIGKILL" in told(Exit(None, 9))["message"]


def test_a_process_that_nobody_saw_end(tmp_path: Path) -> None:
    assert told(Exit(None, None))["code"] == "ProcessEnded"
    log = tmp_path / "log"
    log.write_text("the last line\n")
    assert "the last line" in told(Exit(5, None), log=str(log))["message"]
