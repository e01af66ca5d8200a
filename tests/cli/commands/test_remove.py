from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING

import pytest
from tests.support import hostile
from typer.testing import CliRunner

from runyard.cli import errors
from runyard.cli.main import app

if TYPE_CHECKING:
    from tests.cli.conftest import Shell

WRITES = "import os; os.makedirs('outputs', exist_ok=True); open('outputs/a', 'wb').write(os.urandom(100_000))"


def test_a_run_is_gone_and_its_bytes_are_free(shell: Shell) -> None:
    run_id = shell.completed(WRITES)["id"]
    freed = shell.json("rm", run_id, "--yes")
    assert freed["runs"] == 1
    assert freed["bytes_freed"] >= 100_000
    assert shell.refusal("show", run_id, expect=errors.NOT_FOUND)["code"] == "run_not_found"


def test_nothing_is_deleted_when_nobody_can_confirm(shell: Shell) -> None:
    run_id = shell.completed()["id"]
    error = shell.refusal("rm", run_id, expect=errors.USAGE)
    assert error["code"] == "not_confirmed"
    assert "--yes" in error["help"]
    assert shell.json("show", run_id)["id"] == run_id


def test_on_a_terminal_it_asks(shell: Shell) -> None:
    run_id = shell.completed()["id"]
    code, shown = shell.on_terminal("rm", run_id, answer="n\n")
    assert code == errors.FAILED
    assert f"Delete {run_id} (" in shown
    assert " B) for good?" in shown
    assert "Nothing was deleted." in shown
    code, shown = shell.on_terminal("rm", run_id, answer="y\n")
    assert code == 0
    assert "Deleted 1 run." in shown


def test_a_misspelt_run_among_others_deletes_nothing(shell: Shell) -> None:
    run_id = shell.completed()["id"]
    shell.refusal("rm", run_id, "nobody", "--yes", expect=errors.NOT_FOUND)
    assert shell.json("show", run_id)["id"] == run_id


def test_a_parent_and_its_child_together(shell: Shell) -> None:
    run = shell.completed("from azureml.core import Run; Run.get_context().child_run(name='c').complete()")
    child = next(found for found in shell.json("ls", "-e", run["experiment"], "--all-children") if found["parent_id"])
    assert shell.json("rm", run["id"], child["id"], "--yes")["runs"] == 2


def test_a_whole_experiment(shell: Shell) -> None:
    script = shell.script(WRITES)
    for _ in range(2):
        run = shell.json("submit", script)
        shell.call("logs", "-f", run["id"])
    code, shown = shell.on_terminal("rm", "--experiment", run["experiment"], answer="n\n")
    assert code == errors.FAILED
    assert f"experiment '{run['experiment']}' of workspace 'local' with 2 runs, 2" in shown, "200 kB and some"
    assert "kB for good?" in shown
    told = shell.call("rm", "--experiment", run["experiment"], "--yes").stdout
    assert told.startswith(f"Deleted 2 runs and the experiment '{run['experiment']}'.")
    assert "kB came free" in told
    assert shell.json("ls", "-e", run["experiment"]) == []
    error = shell.refusal("rm", "--experiment", run["experiment"], "--yes", expect=errors.NOT_FOUND)
    assert error["code"] == "experiment_not_found"


def test_a_run_that_goes_on_is_not_deleted(shell: Shell) -> None:
    run = shell.json("submit", shell.script("import time; time.sleep(600)"))
    try:
        error = shell.refusal("rm", run["id"], "--yes", expect=errors.FAILED)
        assert error["code"] == "run_active"
    finally:
        shell.call("stop", run["id"])


def test_runs_and_an_experiment_at_once_are_refused(shell: Shell) -> None:
    assert shell.refusal("rm", expect=errors.USAGE)["code"] == "usage"
    assert shell.refusal("rm", "x", "--experiment", "y", expect=errors.USAGE)["code"] == "usage"


def test_runs_that_are_older_than_a_time(shell: Shell) -> None:
    old, goes_on = shell.completed(), shell.json("submit", shell.script("import time; time.sleep(600)"))
    kept = shell.completed()
    try:
        assert shell.json("rm", "-e", old["experiment"], "--older-than", "1h", "--yes")["runs"] == 0
        refused = shell.refusal("rm", "-e", old["experiment"], "--older-than", "0s", expect=errors.USAGE)
        assert "Delete 1 run, " in refused["title"]
        assert "made more than 0s ago" in refused["title"]
        assert shell.json("rm", "-e", old["experiment"], "--older-than", "0s", "--yes")["runs"] == 1
        assert shell.refusal("show", old["id"], expect=errors.NOT_FOUND)["code"] == "run_not_found"
        assert shell.json("rm", "-e", goes_on["experiment"], "--older-than", "0s", "--yes")["runs"] == 0
        assert shell.json("show", kept["id"])["id"] == kept["id"]
    finally:
        shell.call("stop", goes_on["id"])


@pytest.mark.parametrize(
    "words", [[], ["x", "--older-than", "1d"], ["x", "-e", "y"], ["--older-than", "long"], ["--older-than", "9999999w"]]
)
def test_wrong_calls_delete_nothing(words: list[str]) -> None:
    done = CliRunner().invoke(app, ["rm", *words, "--yes"])
    assert done.exit_code == errors.USAGE


def test_a_server_that_does_not_know_the_question_deletes_no_new_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """One of before, or one that lies, gives all runs when it is asked for the old ones."""
    new = hostile.run("new", created_at=datetime.now(timezone.utc).isoformat())
    with hostile.serving({"/api/runs": {"runs": [new], "next": None}}) as url:
        monkeypatch.setenv("RUNYARD_SERVER", url)
        monkeypatch.setenv("RUNYARD_TOKEN", "x")
        done = CliRunner().invoke(app, ["rm", "--older-than", "1d", "--yes"])
        assert (done.exit_code, done.stdout) == (0, "There was nothing to delete.\n")
        assert CliRunner().invoke(app, ["show", "nobody"]).exit_code == errors.NOT_FOUND
