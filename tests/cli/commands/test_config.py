from __future__ import annotations

from typing import TYPE_CHECKING

from runyard.cli import errors

if TYPE_CHECKING:
    from tests.cli.conftest import Shell


def test_a_setting_is_changed_read_and_put_back(fresh_shell: Shell) -> None:
    assert fresh_shell.json("config", "ls")["environments.relax"] == "false"
    assert "is true in the workspace 'local'" in fresh_shell.call("config", "set", "environments.relax", "true").stdout
    assert fresh_shell.call("config", "get", "environments.relax").stdout == "true\n"
    assert fresh_shell.json("config", "get", "environments.relax") == {"key": "environments.relax", "value": "true"}
    assert "environments.relax" in fresh_shell.call("config", "ls").stdout
    assert fresh_shell.json("config", "unset", "environments.relax")["environments.relax"] == "false"
    refused = fresh_shell.refusal("config", "set", "environments.limit", "a lot", expect=errors.FAILED)
    assert "environments.limit" in refused["title"]
    for words in (["get", "no.such"], ["set", "no.such", "true"], ["unset", "no.such"]):
        unknown = fresh_shell.refusal("config", *words, expect=errors.NOT_FOUND)
        assert "environments.relax" in unknown["help"]


def test_the_reach_of_runs_is_narrowed_by_the_operator(fresh_shell: Shell) -> None:
    assert fresh_shell.json("config", "ls")["runs.scope"] == "workspace"
    assert "runs.scope is run in the workspace" in fresh_shell.call("config", "set", "runs.scope", "run").stdout
    refused = fresh_shell.refusal("config", "set", "runs.scope", "everything", expect=errors.FAILED)
    assert "workspace or run" in refused["help"]
    assert fresh_shell.json("config", "unset", "runs.scope")["runs.scope"] == "workspace"


def test_keys_are_completed(fresh_shell: Shell) -> None:
    told = fresh_shell.call(
        _RUNYARD_COMPLETE="complete_bash", COMP_WORDS="runyard config set environments.r", COMP_CWORD="3"
    ).stdout
    assert told.split() == ["environments.relax"]
