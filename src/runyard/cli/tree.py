"""The whole command tree, as typer shows it: help, completion, suggestions, and messages about wrong calls."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from runyard import __version__
from runyard.cli.commands import compute, config, data, database, retention
from runyard.cli.commands.assets import datastore, models, secret, services, sweep
from runyard.cli.commands.env import built as env
from runyard.cli.commands.transfer import imports
from runyard.cli.main import AROUND, COMMANDS, HISTORY, RUNS, SERVER, run_guarded
from runyard.cli.output import terminal
from runyard.cli.parameters import declare_to_typer
from runyard.cli.suggestions import Suggesting


class Commands(Suggesting):
    """The top of the command tree."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        arguments = list(sys.argv[1:] if args is None else args)

        def call(name: str | None) -> Any:
            return super(Commands, self).main(arguments, name, complete_var, standalone_mode=False, **extra)

        if not standalone_mode:
            with terminal.guarded():
                return call(prog_name)
        sys.exit(run_guarded(lambda: call(prog_name or "runyard"), arguments))


app = typer.Typer(
    name="runyard",
    cls=Commands,
    help="Run training scripts on machines you own, with the API of Azure ML's SDK v1.",
    pretty_exceptions_enable=False,
    rich_markup_mode="rich" if sys.stdout.isatty() else None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"runyard {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def top(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def _declare(group: typer.Typer) -> None:
    for command in (group.registered_callback, *group.registered_commands):
        if command is not None and command.callback is not None:
            declare_to_typer(command.callback)
            command.short_help = _first_sentence(command.callback.__doc__ or "")
    for below in group.registered_groups:
        if below.typer_instance is not None:
            _declare(below.typer_instance)
            below.short_help = _first_sentence(_help(below.typer_instance))


def _help(group: typer.Typer) -> str:
    if isinstance(group.info.help, str):
        return group.info.help
    alone = group.registered_callback
    return (alone.callback.__doc__ or "") if alone and alone.callback else ""


def _first_sentence(text: str) -> str:
    """What a list of commands says of one, whole: typer cuts what is longer than its line where there is no colour."""
    return " ".join(re.split(r"(?<=[.])\s|\n\n", text.strip(), maxsplit=1)[0].split())


for _name, (_module, _panel) in COMMANDS.items():
    _command = getattr(importlib.import_module(f"runyard.cli.commands.{_module}"), _name)
    app.command(rich_help_panel=_panel)(_command)
for _group, _panel in (
    (sweep, RUNS),
    (services, RUNS),
    (secret, AROUND),
    (compute, AROUND),
    (env, AROUND),
    (data, AROUND),
    (datastore, AROUND),
    (models, AROUND),
    (imports, HISTORY),
    (config, AROUND),
    (database, SERVER),
    (retention, SERVER),
):
    app.add_typer(_group.app, rich_help_panel=_panel)
_declare(app)
