from __future__ import annotations

from pathlib import Path

import pytest

from runyard.contracts.plan import Launch
from runyard.node.outcome.exits import Exit
from runyard.node.outcome.failure import describe

TRACE = """Traceback (most recent call last):
  File "{work}/train.py", line 2, in <module>
    import {module}
ModuleNotFoundError: No module named '{module}'
"""


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def test_an_exception_says_where_it_was_raised(work: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(
        f'Traceback (most recent call last):\n  File "{work}/train.py", line 3, in f\n    g()\nValueError: no\n'
    )
    error = describe(Launch(script="train.py"), Exit(1, None), work, log)
    assert error == {
        "code": "UserError",
        "message": "train.py failed with exit code 1: ValueError: no",
        "exception": {
            "type": "ValueError",
            "message": "no",
            "frames": [{"file": "train.py", "line": 3, "function": "f", "code": "g()"}],
        },
        "exit": {"code": 1, "signal": None, "words": "exit code 1"},
    }


def test_a_missing_module_names_the_package_and_both_ways_to_get_it(work: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(TRACE.format(work=work, module="sklearn.svm"))
    help = describe(Launch(script="train.py", interpreter="/opt/python"), Exit(1, None), work, log)["help"]
    assert 'env.python.conda_dependencies.add_pip_package("scikit-learn")' in help
    assert "/opt/python -m pip install scikit-learn" in help
    assert "`--pip requirements.txt`" in help


@pytest.mark.parametrize("module", ["azureml.train.automl", "mine.missing"])
def test_no_package_is_named_for_what_no_package_brings(work: Path, tmp_path: Path, module: str) -> None:
    (work / "mine").mkdir()
    log = tmp_path / "log"
    log.write_text(TRACE.format(work=work, module=module))
    assert "pip" not in describe(Launch(script="train.py"), Exit(1, None), work, log)["help"]


def test_without_a_traceback_the_last_lines_tell(work: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("".join(f"line {number}\n" for number in range(50)) + "bad configuration\n")
    message = describe(Launch(script="train.py"), Exit(2, None), work, log)["message"]
    assert message.startswith("train.py failed with exit code 2.")
    assert message.endswith("line 49\nbad configuration")
    assert "line 5\n" not in message


def test_a_process_that_was_killed_raised_nothing(work: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(TRACE.format(work=work, module="torch") + "going on without it\n")
    error = describe(Launch(script="train.py"), Exit(None, 9), work, log, out_of_memory=True)
    assert "exception" not in error
    assert error["exit"]["words"] == "killed by SIGKILL: likely out of memory"
    assert "memory" in error["help"]


def test_a_run_without_any_output(work: Path, tmp_path: Path) -> None:
    error = describe(Launch(command="exit 3"), Exit(3, None), work, tmp_path / "none")
    assert error["message"] == "The command failed with exit code 3."


def test_a_log_that_is_no_text(work: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"\xff\xfe" * 400_000 + b"\nlast\n")
    assert describe(Launch(script="train.py"), Exit(1, None), work, log)["message"].endswith("last")
