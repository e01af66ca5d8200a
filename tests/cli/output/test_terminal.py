from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, cast

import pytest
from tests.support import hostile
from typer.testing import CliRunner

from runyard.cli import errors
from runyard.cli.main import app
from runyard.cli.output import terminal

if TYPE_CHECKING:
    from tests.cli.conftest import Shell

EVIL_SCRIPT = f"""
import os
from azureml.core import Run
EVIL = {hostile.EVIL!r}
run = Run.get_context()
run.log("loss" + EVIL, 0.5)
run.log("text", "value" + EVIL)
run.log_table("table", {{"column" + EVIL: ["cell" + EVIL]}})
run.tag("key" + EVIL, "value" + EVIL)
run.display_name = "name" + EVIL
run.description = "description" + EVIL
os.makedirs("outputs", exist_ok=True)
open("outputs/file" + EVIL, "w").close()
print("printed" + EVIL, flush=True)
raise RuntimeError("error" + EVIL)
"""


SIGNS = ("\x1b]", "\x1b[2J", "\x1b[H", "\x1b[8m", "\x9b", "\u202e", "\x07", "\x08", "\x7f")


def obeyed(shown: str) -> list[str]:
    """What of the evil is left that a terminal would obey; the colours and lines of our own are not in it."""
    return [sign for sign in SIGNS if sign in shown]


def test_what_a_terminal_would_obey_is_shown_as_json_writes_it() -> None:
    assert terminal.readable("plain, é, 漢字, \U0001f600\n\tnext") == "plain, é, 漢字, \U0001f600\n\tnext"
    assert terminal.readable("\x1b[2J\x9b\u202e\ud800\r") == r"\u001b[2J\u009b\u202e\ud800\u000d"
    assert json.loads(f'"{terminal.readable(hostile.EVIL)}"') == hostile.EVIL
    assert terminal.readable_line("two\nlines") == r"two\u000alines"


def test_our_own_colours_pass_and_nobody_elses() -> None:
    class Screen(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen = Screen()
    guard = terminal.Guard(cast(TextIO, screen))
    styled = terminal.style("name\x1b[31m", cast(TextIO, screen), bold=True)
    guard.write(f"{styled} \x1b[32mtag")
    assert screen.getvalue() == "\x1b[1mname\\u001b[31m\x1b[0m \\u001b[32mtag"


def test_the_streams_are_given_back(capsys: pytest.CaptureFixture[str]) -> None:
    before = sys.stdout
    with terminal.guarded():
        print("\x1b")
    assert sys.stdout is before
    assert capsys.readouterr().out == "\\u001b\n"


def test_nothing_that_a_script_names_is_obeyed_by_the_terminal(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """Clipboard, title, screen: no command but `logs` hands a script's sequences to them."""
    script = shell.script(EVIL_SCRIPT)
    run = shell.json("submit", script)
    shell.call("logs", "-f", run["id"])
    monkeypatch.setenv("RUNYARD_HOME", str(shell.home))
    monkeypatch.chdir(shell.folder)

    def called(*words: str) -> str:
        return CliRunner().invoke(app, list(words), catch_exceptions=False).output

    commands = [
        ["show", run["id"]],
        ["ls", "-e", run["experiment"]],
        ["metrics", run["id"]],
        ["metrics", run["id"], "text"],
        ["metrics", run["id"], "table"],
        ["metrics", run["id"], f"no{hostile.EVIL}"],
        ["files", run["id"]],
        ["get", run["id"]],
    ]
    for command in commands:
        plain = called(*command)
        assert "1b]52;c;" in plain
        assert not [sign for sign in (*SIGNS, "\x1b", "\r") if sign in plain]
        told = called(*command, "--json")
        assert not obeyed(told)
        json.loads(told)
    for command in (commands[0], commands[1]):
        assert not obeyed(shell.on_terminal(*command)[1])
    assert json.loads(called("metrics", run["id"], "--json"))[0]["name"] == f"loss{hostile.EVIL}"
    assert f"printed{hostile.EVIL}" in called("logs", run["id"])


@pytest.mark.parametrize("debug", ["0", "1"])
def test_nothing_that_a_server_says_is_obeyed_by_the_terminal(debug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUNYARD_DEBUG", debug)
    monkeypatch.setenv("RUNYARD_TOKEN", "x")
    runs = [hostile.run(hostile.EVIL, status=hostile.EVIL)]
    broken = {"runs": [{hostile.EVIL: 1}], "next": None}
    for answer, exit_code in (({"runs": runs, "next": None}, 0), (broken, errors.FAILED)):
        with hostile.serving({"/api/runs": answer}) as url:
            monkeypatch.setenv("RUNYARD_SERVER", url)
            done = CliRunner().invoke(app, ["ls"])
        assert done.exit_code == exit_code
        assert not [sign for sign in (*SIGNS, "\x1b", "\r") if sign in done.output]
        assert done.output


@pytest.mark.parametrize("run_id", ["../outside", "/tmp/runyard-outside", "..", "a/b", "", "a\nb"])
def test_a_server_cannot_make_get_write_outside_its_folder(
    run_id: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run's id names the folder: one that leads elsewhere is refused, and nothing is written."""
    found = hostile.run(run_id)
    listed = {"files": [{"name": "x", "size": 1, "hash": None, "growing": False, "updated_at": found["created_at"]}]}
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setenv("RUNYARD_TOKEN", "x")
    with hostile.serving({"/runs/mine": found, "/files": listed, "/files/x": b"x"}) as url:
        monkeypatch.setenv("RUNYARD_SERVER", url)
        done = CliRunner().invoke(app, ["get", "mine"])
        assert done.exit_code == errors.FAILED
        assert "no name for a folder" in done.stderr
        assert [path.name for path in tmp_path.rglob("*")] == ["here"]
        assert CliRunner().invoke(app, ["get", "mine", "--to", "chosen"]).exit_code == 0
        assert (here / "chosen" / "x").read_bytes() == b"x"
