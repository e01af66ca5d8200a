"""Making and changing compute targets: what is refused, and by whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from runyard.cli import errors
from runyard.cli.main import app

if TYPE_CHECKING:
    from tests.cli.conftest import Shell


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
