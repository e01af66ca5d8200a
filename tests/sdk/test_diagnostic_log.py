"""What the SDK did can be read afterwards, and shown to somebody: the requests are there, the token is not."""

from __future__ import annotations

import logging
import stat
from pathlib import Path

import pytest

from azureml.core import Experiment, Workspace, diagnostic_log
from runyard.client import http
from runyard.sdk.exceptions import ExperimentExecutionException


def test_the_requests_are_in_it_and_the_token_is_not(workspace: Workspace, server_home: Path, tmp_path: Path) -> None:
    path = tmp_path / "what.log"
    with diagnostic_log(str(path)):
        run = Experiment(workspace, "diagnosed").start_logging()
        run.complete()
    written = path.read_text("utf-8")
    assert "POST /api/" in written
    assert ": 20" in written
    assert "azureml: Runyard " in written.splitlines()[0]
    assert (server_home / "token").read_text().strip() not in written
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    Experiment(workspace, "afterwards").start_logging().complete()
    assert path.read_text("utf-8") == written


def test_an_error_is_in_it_with_the_way_there(tmp_path: Path) -> None:
    path = tmp_path / "what.log"
    with pytest.raises(ExperimentExecutionException), diagnostic_log(str(path)):
        raise ExperimentExecutionException("nobody is there")
    assert "nobody is there" in path.read_text("utf-8")
    assert "test_diagnostic_log.py" in path.read_text("utf-8")


def test_a_folder_gets_a_file_whose_name_leaves_it_never(tmp_path: Path) -> None:
    log = diagnostic_log(tmp_path / "logs", context_name="../../out of here")
    log.start_capture()
    log.start_capture()
    log.stop_capture()
    log.stop_capture()
    (file,) = (tmp_path / "logs").iterdir()
    assert file.name.startswith(".._.._out_of_here-")


def test_captures_that_overlap_leave_no_trace(tmp_path: Path) -> None:
    loggers = {name: logging.getLogger(name) for name in ("runyard", "azureml", "mine")}
    before = {name: (logger.level, list(logger.handlers)) for name, logger in loggers.items()}
    first = diagnostic_log(tmp_path / "1.log")
    second = diagnostic_log(tmp_path / "2.log", namespaces=["mine"])
    first.start_capture()
    second.start_capture()
    loggers["mine"].debug("of mine")
    first.stop_capture()
    loggers["runyard"].debug("later")
    second.stop_capture()
    assert {name: (logger.level, list(logger.handlers)) for name, logger in loggers.items()} == before
    assert not http.exchanges
    assert "of mine" not in (tmp_path / "1.log").read_text("utf-8")
    assert "of mine" in (tmp_path / "2.log").read_text("utf-8")
    assert "later" in (tmp_path / "2.log").read_text("utf-8")
