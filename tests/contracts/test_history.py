"""The names under which logs are delivered are the names under which everybody else looks for them."""

from __future__ import annotations

import pytest

from runyard.contracts import history


def test_the_names_that_users_and_scripts_know() -> None:
    assert history.user_log(history.SCRIPT_LOG) == "user_logs/std_log.txt"
    assert history.user_log(history.rank_log(12)) == "user_logs/std_log_process_12.txt"
    assert history.INTERACTIVE_LOG == "logs/user_log.txt"
    assert history.BUILD_LOG == history.system_log(history.ENVIRONMENT_LOG) == "system_logs/environment.log"
    assert history.system_log("mpirun.log", 3) == "system_logs/mpirun_node_3.log"
    assert set(history.LOG_FOLDERS) == {"user_logs", "system_logs", "logs", "azureml-logs"}


@pytest.mark.parametrize(
    ("name", "is_main"),
    [
        ("user_logs/std_log.txt", True),
        ("user_logs/std_log_process_0.txt", True),
        ("user_logs/std_log_process_00.txt", True),
        ("azureml-logs/70_driver_log.txt", True),
        ("user_logs/std_log_process_1.txt", False),
        ("user_logs/attempt_1/std_log.txt", False),
        ("azureml-logs/driver_log.txt", False),
        ("system_logs/runner.log", False),
        ("outputs/user_logs/std_log.txt", False),
    ],
)
def test_the_log_of_the_first_process(name: str, is_main: bool) -> None:
    assert history.is_main_log(name) is is_main


def test_logs_of_processes_are_told_from_others() -> None:
    assert history.is_process_log(history.user_log(history.rank_log(3)))
    assert history.is_process_log(history.user_log(history.SCRIPT_LOG))
    assert not history.is_process_log(history.INTERACTIVE_LOG)
    assert not history.is_process_log(history.system_log("runner.log"))


@pytest.mark.parametrize(
    ("name", "former"),
    [
        ("user_logs/std_log_process_3.txt", "user_logs/attempt_2/std_log_process_3.txt"),
        ("logs/deep/down/loss.txt", "logs/attempt_2/deep/down/loss.txt"),
        ("own/folder/loss.txt", "own/folder/attempt_2/loss.txt"),
    ],
)
def test_the_logs_of_a_former_attempt(name: str, former: str) -> None:
    assert history.former_log(name, 2) == former
    assert history.is_former(former)
    assert not history.is_former(name)


def test_a_folder_that_the_run_asked_to_have_followed() -> None:
    former = history.former_log("own/deep/loss.txt", 1, "own")
    assert former == "own/attempt_1/deep/loss.txt"
    assert history.attempt_in(former[len("own/") :]) == 1
    assert history.attempt_in("deep/loss.txt") is None
    assert history.attempt_in("attempt_x/loss.txt") is None
