from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from runyard import __version__
from runyard.cli import errors
from runyard.cli.main import app
from runyard.client.http import ClientProblem, Unreachable
from runyard.sdk.exceptions import UserErrorException

if TYPE_CHECKING:
    from tests.cli.conftest import Shell


def test_version_and_help_load_neither_rich_nor_the_sdk() -> None:
    """A prompt that completes commands calls this often: it must stay quick."""
    code = (
        "import sys\nfrom runyard.cli.main import app\n"
        "try: app(sys.argv[1:])\nexcept SystemExit: pass\n"
        "print([name for name in sys.modules if name.split('.')[0] in ('rich', 'pydantic', 'fastapi', 'http')"
        " or name.startswith(('runyard.sdk', 'runyard.server', 'runyard.store'))])"
    )
    for option in ("--version", "--help"):
        done = subprocess.run([sys.executable, "-c", code, option], capture_output=True, text=True, check=True)
        assert done.stdout.splitlines()[-1] == "[]"


NOT_NEEDED = {
    *("typer", "click", "rich", "pydantic", "fastapi", "sqlalchemy", "yaml", "uvicorn", "docker", "psutil"),
    *("http.client", "email", "ssl", "asyncio", "subprocess", "random", "importlib.metadata"),
    *("runyard.server", "runyard.store", "runyard.scheduler", "runyard.engines", "runyard.node"),
}
LISTING = NOT_NEEDED | {"shutil", "decimal", "logging", "runyard.sdk.submit", "runyard.sdk.environment"}
MODULES = {"ls": 160, "show": 165, "submit": 235}
"""How many modules a command may load, those of the interpreter's own start included."""


@pytest.mark.parametrize(
    ("words", "not_needed"),
    [(["ls"], LISTING), (["show", "@last"], LISTING), (["submit"], NOT_NEEDED)],
)
def test_a_command_loads_only_what_it_needs(shell: Shell, words: list[str], not_needed: set[str]) -> None:
    """The time of a command is mostly that of its imports."""
    script = shell.script("")
    shell.call("submit", script)  # so that the server runs, and there is something to show
    done = shell.call(*words, *([script] if words == ["submit"] else []), PYTHONPROFILEIMPORTTIME="1")
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    assert "runyard.cli.main" in loaded
    assert loaded.isdisjoint(not_needed)
    assert {name for name in loaded if name.startswith("runyard.cli.commands.")} <= {
        *("runyard.cli.commands.runs", "runyard.cli.commands.submit", "runyard.cli.commands.logs")
    }
    assert len(loaded) <= MODULES[words[0]]


def test_version() -> None:
    assert CliRunner().invoke(app, ["--version"]).output == f"runyard {__version__}\n"


@pytest.mark.parametrize(
    "words",
    [
        ["ls", "--no-such-option"],
        ["no-such-command"],
        ["show"],
        ["ls", "--limit", "many"],
        ["ls", "--limit"],
        ["ls", "-n"],
    ],
)
def test_a_wrong_call_is_exit_code_2_and_names_the_help(words: list[str]) -> None:
    done = CliRunner().invoke(app, words)
    assert done.exit_code == errors.USAGE
    assert done.stdout == ""
    assert "--help` lists what it takes" in done.stderr


@pytest.mark.parametrize(
    ("words", "suggested"),
    [
        (["cancel", "x"], "'stop'"),
        (["delete", "x"], "'rm'"),
        (["status"], "'show'"),
        (["Status"], "'show'"),
        (["list"], "'ls'"),
        (["retry", "x"], "'rerun'"),
        (["env", "delete", "x"], "'rm'"),
        (["compute", "list"], "'ls'"),
        (["submitt"], "'submit'"),
    ],
)
def test_commands_of_other_tools_get_a_suggestion(words: list[str], suggested: str) -> None:
    done = CliRunner().invoke(app, words)
    assert done.exit_code == errors.USAGE
    assert "No such command" in done.stderr
    assert suggested in done.stderr


def test_what_no_command_here_does_is_not_suggested() -> None:
    assert "Did you mean" not in CliRunner().invoke(app, ["config", "cancel"]).stderr


def test_a_wrong_call_with_json_is_told_as_json() -> None:
    done = CliRunner().invoke(app, ["ls", "--status", "asleep", "--json"])
    assert done.exit_code == errors.USAGE
    assert done.stderr.startswith('{"error": {"code": "usage"')
    assert "Completed" in done.stderr


def test_json_among_the_arguments_of_a_script_is_the_scripts_own() -> None:
    done = CliRunner().invoke(app, ["submit", "--no-such-option", "train.py", "--", "--json"])
    assert done.stderr.startswith("Error: ")


def test_a_script_argument_without_dashes_before_it_gets_a_hint() -> None:
    done = CliRunner().invoke(app, ["submit", "train.py", "--lr", "0.1"])
    assert done.exit_code == errors.USAGE
    assert "-- --lr" in done.stderr
    assert "--rank" not in done.stderr, "which nobody meant"
    assert "--compute" in CliRunner().invoke(app, ["submit", "train.py", "--comput", "x"]).stderr


def test_a_number_that_is_none_is_called_so() -> None:
    assert "'many' is no whole number." in CliRunner().invoke(app, ["services", "scale", "adds", "many"]).stderr


@pytest.mark.parametrize(
    ("problem", "exit_code", "code"),
    [
        (ClientProblem("run_not_found", "There is no run 'x'.", "Look again.", 404), errors.NOT_FOUND, "run_not_found"),
        (ClientProblem("run_active", "It goes on.", "Stop it.", 409), errors.FAILED, "run_active"),
        (Unreachable("http://x", OSError("refused"), False, "Start it."), errors.UNREACHABLE, "server_unreachable"),
        (
            UserErrorException("No.", inner_exception=ClientProblem("not_ready", "Wait.", "", 503)),
            errors.UNREACHABLE,
            "not_ready",
        ),
        (UserErrorException("The script is not there."), errors.FAILED, "refused"),
        (FileNotFoundError(2, "No such file or directory", "/x"), errors.FAILED, "failed"),
        (RuntimeError("never seen"), errors.FAILED, "unexpected"),
    ],
)
def test_every_error_has_words_and_an_exit_code(problem: Exception, exit_code: int, code: str) -> None:
    told = errors.explain(problem)
    assert (told.exit_code, told.code) == (exit_code, code)
    assert told.title
    assert "Traceback" not in told.title
