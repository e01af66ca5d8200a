"""Declarations reach both of their readers, and a refusal is one that typer shows as its own."""

from __future__ import annotations

from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from runyard.cli.parameters import Argument, Option, bad_parameter, declaration, declare_to_typer, hints, leave


def test_a_declaration_is_read_by_typer_and_by_us() -> None:
    seen: list[tuple[str, int]] = []

    def command(
        run: Annotated[str, Argument(metavar="RUN")], limit: Annotated[int, Option("--limit", "-n", min=1)] = 20
    ) -> None:
        seen.append((run, limit))

    app = typer.Typer()
    app.command()(declare_to_typer(command))
    assert CliRunner().invoke(app, ["r", "-n", "3"]).exit_code == 0
    assert seen == [("r", 3)]
    assert CliRunner().invoke(app, ["r", "-n", "0"]).exit_code == 2, "the smallest value is known to typer"
    assert isinstance(declaration(hints(command)["run"]), Argument)
    assert isinstance(declaration(hints(command)["limit"]), Option)


def test_refusals_are_those_of_typer() -> None:
    with pytest.raises(typer.BadParameter, match="no such thing"):
        raise bad_parameter("no such thing", param_hint="--x")
    with pytest.raises(typer.Exit) as left:
        raise leave(3)
    assert left.value.exit_code == 3
