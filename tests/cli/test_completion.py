from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.cli.conftest import Shell


def complete(shell: Shell, words: str) -> list[str]:
    """What bash would offer after these words."""
    number = str(len(words.split(" ")) - 1)
    told = shell.call(_RUNYARD_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=number).stdout
    return told.split()


def test_commands_run_ids_and_targets_are_completed(shell: Shell) -> None:
    run_id = shell.completed()["id"]
    assert "submit" in complete(shell, "runyard su")
    assert complete(shell, f"runyard show {run_id[:-3]}") == [run_id]
    assert complete(shell, "runyard compute show loc") == ["local"]


def test_names_of_datastores_datasets_and_services_are_completed(shell: Shell) -> None:
    offered(shell, "runyard datastore show workspaceb", ["workspaceblobstore"])
    assert complete(shell, "runyard data show nosuch") == []
    assert complete(shell, "runyard services show nosuch") == []


def test_completion_starts_no_server(fresh_shell: Shell) -> None:
    assert complete(fresh_shell, "runyard show x") == []
    assert complete(fresh_shell, "runyard compute show x") == []
    assert not fresh_shell.home.exists()


def offered(shell: Shell, words: str, expected: list[str]) -> None:
    """A server is not waited for, and a busy machine is slow: what was not offered at once is asked for again."""
    deadline = time.monotonic() + 60
    while (found := complete(shell, words)) != expected and time.monotonic() < deadline:
        pass
    assert found == expected


def test_names_of_experiments_metrics_files_and_states_are_completed(shell: Shell) -> None:
    """What is not offered, a shell completes as the name of a file that happens to lie there."""
    run = shell.completed("from azureml.core import Run; Run.get_context().log('accuracy', 1); print('done')")
    experiment, run_id = run["experiment"], run["id"]
    for command in ("ls", "submit x.py", "rm"):
        offered(shell, f"runyard {command} --experiment {experiment[:-2]}", [experiment])
    offered(shell, f"runyard metrics {run_id} acc", ["accuracy"])
    offered(shell, f"runyard get {run_id} user_logs/", ["user_logs/std_log.txt"])
    offered(shell, f"runyard logs {run_id} --file user", ["user_logs/std_log.txt"])
    offered(shell, "runyard ls --status Comp", ["Completed"])
    assert complete(shell, "runyard metrics nobody acc") == []
    assert complete(shell, "runyard logs --file user") == []
