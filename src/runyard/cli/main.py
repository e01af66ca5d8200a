"""The `runyard` command: gathers the commands, and turns every error into a message and an exit code.

Start-up matters here, so the commands load what they need (the SDK, rich, the server) when they are called.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from runyard import __version__
from runyard.cli import errors
from runyard.cli.commands import (
    compute,
    config,
    database,
    doctor,
    du,
    env,
    files,
    logs,
    metrics,
    remove,
    retention,
    runs,
    server,
    submit,
)
from runyard.cli.output import terminal
from runyard.cli.suggestions import Suggesting

# typer brings its own copy of click since 0.26 and uses the installed one before: this names the class of either.
UsageError: type[Exception] = typer.BadParameter.__mro__[1]

SERVER, RUNS, HISTORY, AROUND = "Server", "Runs", "What a run left", "What runs are given"


class Commands(Suggesting):
    """The top of the command tree; the one place where errors are shown, and where output is guarded."""

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
        with terminal.guarded():
            if not standalone_mode:
                return super().main(arguments, prog_name, complete_var, standalone_mode=False, **extra)
            code = self._run(arguments, prog_name or "runyard", complete_var, extra)
        sys.exit(code if isinstance(code, int) else 0)

    def _run(self, arguments: list[str], prog_name: str, complete_var: str | None, extra: dict[str, Any]) -> Any:
        as_json = "--json" in arguments[: arguments.index("--") if "--" in arguments else None]
        try:
            return super().main(arguments, prog_name, complete_var, standalone_mode=False, **extra)
        except UsageError as problem:
            return _refuse_usage(problem, as_json)
        except typer.Abort:
            errors.show(
                errors.CommandError("Nothing was done: the question was not answered.", code="aborted"), as_json
            )
            return errors.FAILED
        except KeyboardInterrupt:
            return errors.INTERRUPTED
        except BrokenPipeError:
            return _reader_left()
        except Exception as problem:  # noqa: BLE001 - it is shown, with its traceback if RUNYARD_DEBUG is set
            if errors.debugging():
                return _show_traceback()
            error = errors.explain(problem)
            errors.show(error, as_json)
            return error.exit_code


def _refuse_usage(problem: Exception, as_json: bool) -> int:
    """A command that was called wrongly: what is wrong, and where its options are listed."""
    context = getattr(problem, "ctx", None)
    command = context.command_path if context is not None else "runyard"
    described = getattr(problem, "format_message", None)
    help = f"`{command} --help` lists what it takes."
    unknown = getattr(problem, "option_name", None)
    if unknown and command.endswith(" submit"):
        help += f" What the script is to get goes after two dashes: runyard submit train.py -- {unknown} ..."
    errors.show(errors.CommandError(described() if described else str(problem), help, code="usage"), as_json)
    return errors.USAGE


def _show_traceback() -> int:
    import traceback

    traceback.print_exc()
    return errors.FAILED


def _reader_left() -> int:
    """The other end of the pipe was closed (`runyard logs ... | head`): stop quietly, also at exit."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return errors.FAILED


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


app.command(rich_help_panel=RUNS)(submit.submit)
app.command(rich_help_panel=RUNS)(runs.ls)
app.command(rich_help_panel=RUNS)(runs.show)
app.command(rich_help_panel=RUNS)(runs.stop)
app.command(rich_help_panel=RUNS)(runs.preempt)
app.command(rich_help_panel=RUNS)(remove.rm)
app.command(rich_help_panel=HISTORY)(logs.logs)
app.command(rich_help_panel=HISTORY)(metrics.metrics)
app.command(rich_help_panel=HISTORY)(files.files)
app.command(rich_help_panel=HISTORY)(files.get)
app.add_typer(compute.app, rich_help_panel=AROUND)
app.add_typer(env.app, rich_help_panel=AROUND)
app.add_typer(config.app, rich_help_panel=AROUND)
app.command(rich_help_panel=SERVER)(server.up)
app.command(rich_help_panel=SERVER)(server.down)
app.command(rich_help_panel=SERVER)(server.serve)
app.command(rich_help_panel=SERVER)(doctor.doctor)
app.command(rich_help_panel=SERVER)(du.du)
app.add_typer(database.app, rich_help_panel=SERVER)
app.add_typer(retention.app, rich_help_panel=SERVER)
