"""Groups of commands, such as `runyard env`."""

from __future__ import annotations

import typer

from runyard.cli.suggestions import Suggesting


def group(name: str, help: str, kind: type[Suggesting] = Suggesting) -> typer.Typer:
    """A group of subcommands. The group alone shows its help, and is no mistake."""
    app = typer.Typer(name=name, help=help, cls=kind)

    @app.callback(invoke_without_command=True)
    def alone(context: typer.Context) -> None:
        if context.invoked_subcommand is None:
            typer.echo(context.get_help())

    return app
