"""The whole tree holds every command, wherever it is declared, and its groups."""

from __future__ import annotations

from typing import Any

from typer.main import get_command
from typer.testing import CliRunner

from runyard.cli import main
from runyard.cli.tree import app


def test_every_command_is_in_the_tree_with_its_parameters_declared() -> None:
    root: Any = get_command(app)
    assert set(root.commands) == {
        *main.COMMANDS,
        "sweep",
        "secret",
        "compute",
        "env",
        "data",
        "datastore",
        "models",
        "services",
        "config",
        "database",
        "retention",
        "import",
    }
    for command in root.commands.values():
        for each in getattr(command, "commands", {"": command}).values():
            names = {parameter.name: parameter.opts for parameter in each.params}
            assert names.get("as_json", ["--json"]) == ["--json"], f"{each.name}: declarations did not reach typer"


def test_the_app_is_found_where_it_was() -> None:
    assert main.app is app


def test_lists_of_commands_are_not_cut() -> None:
    assert "..." not in CliRunner().invoke(app, ["--help"]).output.partition("Commands:")[2]
    told = " ".join(CliRunner().invoke(app, ["compute", "--help"]).output.split())
    assert "Attach a cluster that is there: runyard compute attach hpc --engine slurm --partition gpu" in told
