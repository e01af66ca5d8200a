"""Which log is shown while one waits for a run: the first process's, and the build's until there is one."""

from __future__ import annotations

import pytest
from tests.sdk.run.interactive_run import begin

from runyard.sdk.experiment import Experiment
from runyard.sdk.run import watching
from runyard.sdk.run.watching import followed_log


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ([], None),
        (["system_logs/runner.log", "outputs/std_log.txt"], None),
        (["system_logs/environment.log", "system_logs/runner.log"], "system_logs/environment.log"),
        (["system_logs/environment.log", "user_logs/std_log.txt"], "user_logs/std_log.txt"),
        ([f"user_logs/std_log_process_{rank}.txt" for rank in range(12)], "user_logs/std_log_process_0.txt"),
        (["azureml-logs/55_azureml-execution.txt", "azureml-logs/70_driver_log.txt"], "azureml-logs/70_driver_log.txt"),
        (
            ["azureml-logs/70_driver_log_ps_0.txt", "azureml-logs/70_driver_log_worker_0.txt"],
            "azureml-logs/70_driver_log_worker_0.txt",
        ),
    ],
)
def test_the_log_that_is_followed(names: list[str], expected: str | None) -> None:
    assert followed_log(names) == expected


def test_the_status_of_a_run_that_has_ended_is_final(experiment: Experiment) -> None:
    run = begin(experiment)
    assert run.get_status() == "Running"
    assert run.get_detailed_status() == {"status": "Running", "details": None}
    run.complete()
    assert run.wait_for_completion(show_output=True)["status"] == run.status == "Completed"


def test_a_wait_for_a_run_that_has_ended_asks_once(experiment: Experiment, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a thousand runs most have ended when their turn to be waited for comes."""
    run = begin(experiment)
    run.complete()
    run.wait_for_completion()

    def not_needed(*arguments: object) -> None:
        raise AssertionError("it was followed")

    monkeypatch.setattr(watching, "follow", not_needed)
    assert run.wait_for_completion()["status"] == "Completed"
