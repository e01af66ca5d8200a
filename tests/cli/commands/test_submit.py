from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runyard.cli import errors
from runyard.cli.commands.submit import active_python, experiment_name
from runyard.contracts import states

if TYPE_CHECKING:
    from tests.cli.conftest import Shell


def test_following_shows_the_log_and_ends_with_the_summary(shell: Shell) -> None:
    script = shell.script(
        """
        import sys
        from azureml.core import Run
        run = Run.get_context()
        run.log("loss", 0.5)
        run.log("loss", 0.25)
        print("arguments", sys.argv[1:])
        """
    )
    told = shell.call("submit", script, "--follow", "--", "--lr", "0.1").stdout
    assert "arguments ['--lr', '0.1']\n" in told
    summary = told[told.index("arguments") :]
    assert "Completed after" in summary
    assert "0.25" in summary
    assert "runyard show" in summary or "bin/runyard show" in summary


def test_without_following_it_prints_the_id_the_address_and_the_next_commands(shell: Shell) -> None:
    told = shell.call("submit", shell.script("print(1)")).stdout
    run_id = told.splitlines()[0].split()[-1]
    assert told.splitlines()[1].startswith("http://")
    assert f"logs -f {run_id}" in told
    assert shell.json("show", run_id)["id"] == run_id


def test_a_workspace_that_the_server_has_not_seen_is_made_with_its_first_run(shell: Shell, name: str) -> None:
    script = shell.script("print(1)")
    config = {"subscription_id": "s", "resource_group": "g", "workspace_name": name}
    (shell.folder / "config.json").write_text(json.dumps(config))
    first, second = (shell.json("submit", script) for _ in range(2))
    assert (first["workspace"], second["workspace"]) == (name, name)


def test_a_name_that_no_experiment_can_have_is_refused_before_anything_is_sent(shell: Shell) -> None:
    refusal = shell.refusal("submit", shell.script("print(1)"), "-e", "my experiment", expect=errors.FAILED)
    assert "is no name for an experiment" in refusal["title"]


def test_a_failed_run_is_exit_code_1_with_the_line_that_failed(shell: Shell) -> None:
    script = shell.script("def train():\n    raise ValueError('too steep')\n\ntrain()\n")
    done = shell.call("submit", script, "-f", expect=errors.FAILED)
    assert "Failed after" in done.stdout
    assert "ValueError: too steep" in done.stdout
    assert "train.py:2 in train" in done.stdout
    assert {line.partition(":")[0] for line in done.stderr.splitlines()} <= states.ALL, "states, and nothing else"


def test_all_that_can_be_said_on_the_command_line_reaches_the_run(shell: Shell) -> None:
    script = shell.script("import os; print('VALUE', os.environ['VALUE'])")
    options = ["--experiment", "everything", "--name", "first try", "--tag", "who=me", "--env-var", "VALUE=a=b"]
    lines = shell.call("submit", script, *options, "--max-seconds", "600", "-f", "--json").stdout.splitlines()
    events = [json.loads(line) for line in lines]
    assert events[0]["event"] == "submitted"
    assert "".join(event["text"] for event in events if event["event"] == "log") == "VALUE a=b\n"
    run = events[-1]["run"]
    assert events[-1]["event"] == "ended"
    assert (run["status"], run["experiment"], run["display_name"]) == ("Completed", "everything", "first try")
    assert run["tags"]["who"] == "me"
    assert shell.json("show", run["id"])["launch"]["max_run_duration_seconds"] == 600


def test_a_time_limit_ends_the_run(shell: Shell) -> None:
    script = shell.script("import time; time.sleep(600)")
    done = shell.call("submit", script, "--max-seconds", "1", "-f", expect=errors.FAILED)
    assert "1 s" in done.stdout


def test_a_command_runs_in_the_source_folder(shell: Shell) -> None:
    script = Path(shell.script("print('from the script')"))
    command = f"{sys.executable} train.py && echo and then"
    told = shell.call("submit", "--source", str(script.parent), "--command", command, "-f").stdout
    assert "from the script\nand then\n" in told


def test_a_script_below_the_source_folder(shell: Shell) -> None:
    script = Path(shell.script("import os; print(sorted(os.listdir('.')))"))
    (script.parent / "inner").mkdir()
    script.rename(script.parent / "inner" / "train.py")
    inside = os.path.relpath(script.parent / "inner" / "train.py", shell.folder)
    for named in ("inner/train.py", inside):
        assert "['inner'" in shell.call("submit", "--source", str(script.parent), named, "-f").stdout


def test_another_interpreter(shell: Shell) -> None:
    run = shell.json("submit", shell.script("print(1)"), "--python", sys.executable)
    assert shell.json("show", run["id"])["launch"]["interpreter"] == sys.executable


@pytest.mark.parametrize(
    "words", [["submit"], ["submit", "train.py", "--command", "ls"], ["submit", "x.py", "--tag", "a"]]
)
def test_wrong_calls(shell: Shell, words: list[str]) -> None:
    assert shell.refusal(*words, expect=errors.USAGE)["code"] == "usage"


def test_a_missing_script_is_named(shell: Shell) -> None:
    error = shell.refusal("submit", "nowhere.py", expect=errors.FAILED)
    assert "nowhere.py" in error["title"]


def test_a_folder_is_no_script(shell: Shell) -> None:
    folder = Path(shell.script("print(1)")).parent
    error = shell.refusal("submit", str(folder), expect=errors.USAGE)
    assert "is a folder" in error["title"]
    assert str(folder / "train.py") in error["title"]


def test_an_unknown_target_is_refused(shell: Shell) -> None:
    error = shell.refusal("submit", shell.script("print(1)"), "--compute", "moon", expect=errors.NOT_FOUND)
    assert error["code"] == "compute_not_found"
    assert "moon" in error["title"]
    assert "local" in error["help"]


@pytest.mark.parametrize(
    ("folder", "name"), [("/x/my project!", "my_project"), ("/", "default"), ("/x/été", "t"), ("/x/a-b", "a-b")]
)
def test_an_experiment_is_named_like_its_folder(folder: str, name: str) -> None:
    assert experiment_name(Path(folder)) == name


def test_the_interpreter_is_that_of_the_active_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CONDA_PREFIX", raising=False)
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path))
    assert active_python() == sys.executable, "an environment without a Python does not count"
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.touch()
    assert active_python() == str(python)
