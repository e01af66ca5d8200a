"""Every command of `runyard compute`, against a real server. Names are of the test's own: the server is shared."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from runyard.cli import errors
from runyard.cli.main import app

if TYPE_CHECKING:
    from tests.cli.conftest import Shell


@pytest.fixture
def name() -> str:
    return f"cluster-{uuid.uuid4().hex[:8]}"


def test_a_target_from_its_making_to_its_end(shell: Shell, name: str) -> None:
    told = shell.call(
        "compute", "create", name, "--max-nodes", "4", "--vm-size", "standard_nc6", "--low-priority"
    ).stdout
    assert f"Made {name}." in told
    assert f"submit train.py --compute {name}" in told
    table = shell.call("compute", "ls").stdout.splitlines()
    assert table[0].split()[:3] == ["NAME", "ENGINE", "STATE"]
    row = next(line for line in table if line.startswith(name))
    assert row.split()[1:3] == ["local", "Steady"]
    assert "0 to 4" in row
    assert row.split()[-1] == "low"
    assert table[1].startswith("local ")
    shown = shell.call("compute", "show", name).stdout
    assert "6 cores, 56 GiB, 1 x K80" in shown
    assert "a wish" in shown
    assert "a node leaves after 30 min without work" in shown
    assert "Next:" in shown
    changed = shell.json("compute", "update", name, "--max-nodes", "2", "--min-nodes", "1", "--idle-seconds", "0")
    assert (changed["max_nodes"], changed["min_nodes"], changed["idle_seconds"]) == (2, 1, 0)
    assert shell.json("compute", "show", name)["max_nodes"] == 2
    assert [node["state"] for node in shell.json("compute", "nodes", name)] == ["idle"]
    assert "idle" in shell.call("compute", "nodes", name).stdout
    assert name in [target["name"] for target in shell.json("compute", "ls")]
    assert shell.call("compute", "rm", name).stdout == f"Removed {name}.\n"
    error = shell.refusal("compute", "show", name, expect=errors.NOT_FOUND)
    assert error["code"] == "compute_not_found"
    assert "local" in error["help"]


def test_what_the_server_refuses_is_told_in_its_words(shell: Shell, name: str) -> None:
    error = shell.refusal("compute", "create", name, "--max-nodes", "1", "--vm-size", "NC7", expect=errors.FAILED)
    assert (error["code"], "Standard_NC6" in error["title"]) == ("unknown_vm_size", True)
    error = shell.refusal("compute", "create", name, "--max-nodes", "1", "--min-nodes", "2", expect=errors.FAILED)
    assert "max_nodes (1) is below min_nodes (2)" in error["title"]
    assert shell.refusal("compute", "rm", "local", expect=errors.FAILED)["code"] == "invalid_compute"
    assert shell.refusal("compute", "rm", name, expect=errors.NOT_FOUND)["code"] == "compute_not_found"
    error = shell.refusal("compute", "attach", name, "--engine", "pbs", "--option", "queue=long", expect=errors.FAILED)
    assert error["title"] == "There is no engine 'pbs'. The engines are: local, ray, slurm."
    words = ("compute", "attach", name, "--engine", "slurm", "--commands", "/nowhere/at/all")
    assert shell.refusal(*words, expect=errors.FAILED)["code"] in ("engine_refused", "engine_away")


def test_a_new_workspace_has_this_machine_and_is_told_what_to_do_next(fresh_shell: Shell) -> None:
    told = fresh_shell.call("compute", "ls").stdout
    assert [line.split()[0] for line in told.splitlines()[:2]] == ["NAME", "local"]
    assert "compute create" in told


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["create", "c1"], "--max-nodes"),
        (["create", "c1", "--max-nodes", "many"], "--max-nodes"),
        (["attach", "c1"], "--engine"),
        (["attach", "c1", "--engine", "local"], "ray or slurm"),
        (["attach", "c1", "--engine", "ray"], "needs the option address"),
        (["attach", "c1", "--engine", "ray", "--address", "h:1", "--partition", "gpu"], "no option 'partition'"),
        (["attach", "c1", "--engine", "ray", "--address", "h:1", "--resource", "a=lot"], "no amount"),
        (["update", "c1"], "say what to change"),
        (["update", "c1", "--option", "partition"], "KEY=VALUE"),
        (["rm"], "NAME"),
    ],
)
def test_wrong_calls_need_no_server(words: list[str], hint: str) -> None:
    done = CliRunner().invoke(app, ["compute", *words])
    assert done.exit_code == errors.USAGE
    assert hint in done.stderr
