"""Every command of `runyard compute`, against a real server. Names are of the test's own: the server is shared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runyard.cli import errors

if TYPE_CHECKING:
    from tests.cli.conftest import Shell


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


def test_a_new_workspace_has_this_machine_and_is_told_what_to_do_next(fresh_shell: Shell) -> None:
    told = fresh_shell.call("compute", "ls").stdout
    assert [line.split()[0] for line in told.splitlines()[:2]] == ["NAME", "local"]
    assert "compute create" in told
