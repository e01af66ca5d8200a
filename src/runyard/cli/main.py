"""The `runyard` command: finds the command that is called, and turns every error into a message and an exit code.

Start-up matters here. Only the module of the command in question is loaded, and a plain call is read without typer
(`runyard.cli.direct`); everything else goes through the whole tree (`runyard.cli.tree`). Commands load what they need
(the SDK, rich, the server) when they are called.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from runyard.cli import direct, errors
from runyard.cli.output import terminal

if TYPE_CHECKING:
    from typer import Typer

    app: Typer  # see __getattr__

SERVER, RUNS, HISTORY, AROUND = "Server", "Runs", "What a run left", "What runs are given"

COMMANDS = {
    "submit": ("submit", RUNS),
    "ls": ("runs", RUNS),
    "show": ("runs", RUNS),
    "stop": ("runs", RUNS),
    "preempt": ("runs", RUNS),
    "rm": ("remove", RUNS),
    "logs": ("logs", HISTORY),
    "metrics": ("metrics", HISTORY),
    "files": ("files", HISTORY),
    "get": ("files", HISTORY),
    "compare": ("views.compare", HISTORY),
    "diff": ("views.compare", HISTORY),
    "top": ("views.top", RUNS),
    "rerun": ("views.rerun", RUNS),
    "tensorboard": ("views.tensorboard", HISTORY),
    "export": ("transfer.export", HISTORY),
    "studio": ("views.studio", RUNS),
    "up": ("server", SERVER),
    "down": ("server", SERVER),
    "serve": ("server", SERVER),
    "doctor": ("doctor", SERVER),
    "du": ("du", SERVER),
}
"""The commands that belong to no group: the module of each in `runyard.cli.commands`, and where help lists it."""

LIKE = 0.6
"""How alike an unknown option and one that is there must be for a slip of the keyboard; 1 is the same."""


def main() -> None:
    """The entry point."""
    arguments = sys.argv[1:]
    plain = _plain_call(arguments)
    if plain is not None:
        sys.exit(run_guarded(plain, arguments))
    from runyard.cli.tree import app

    app()


def __getattr__(name: str) -> Any:
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from runyard.cli.tree import app

    return app


def run_guarded(call: Callable[[], Any], arguments: Sequence[str]) -> int:
    """Run a command; its exit code. The one place where errors are shown, and where output is guarded."""
    as_json = "--json" in arguments[: arguments.index("--") if "--" in arguments else None]
    with terminal.guarded():
        try:
            code = call()
        except KeyboardInterrupt:
            return errors.INTERRUPTED
        except BrokenPipeError:
            return _reader_left()
        except Exception as problem:  # noqa: BLE001 - it is shown, with its traceback if RUNYARD_DEBUG is set
            code = _explained(problem, as_json, arguments)
    return code if isinstance(code, int) else 0


def _plain_call(arguments: Sequence[str]) -> Callable[[], Any] | None:
    """The call of a command that needs no typer to be read; None for any other."""
    if "_RUNYARD_COMPLETE" in os.environ or not arguments or arguments[0] not in COMMANDS:
        return None
    from importlib import import_module

    name = arguments[0]
    command = getattr(import_module(f"runyard.cli.commands.{COMMANDS[name][0]}"), name)
    try:
        given = direct.read(command, arguments[1:])
    except direct.NotPlain:
        return None
    return lambda: command(**given)


def _explained(problem: Exception, as_json: bool, arguments: Sequence[str]) -> int:
    if "typer" in sys.modules:
        import typer

        # typer brings its own copy of click since 0.26 and uses the installed one before: this is the class of either.
        usage_error: type[Exception] = typer.BadParameter.__mro__[1]
        if isinstance(problem, typer.Exit):
            return int(problem.exit_code)
        if isinstance(problem, usage_error):
            return _refuse_usage(problem, as_json, arguments)
        if isinstance(problem, typer.Abort):
            unanswered = "Nothing was done: the question was not answered."
            errors.show(errors.CommandError(unanswered, code="aborted"), as_json)
            return errors.FAILED
    if errors.debugging():
        return _show_traceback(problem)
    error = errors.explain(problem)
    errors.show(error, as_json)
    return error.exit_code


def _refuse_usage(problem: Exception, as_json: bool, arguments: Sequence[str]) -> int:
    """A command that was called wrongly: what is wrong, and where its options are listed."""
    context = getattr(problem, "ctx", None)
    if context is not None:
        command = context.command_path
    else:
        command = " ".join(["runyard", *(name for name in arguments[:1] if name in COMMANDS)])
    help = f"`{command} --help` lists what it takes."
    unknown = getattr(problem, "option_name", None) if hasattr(problem, "possibilities") else None
    if unknown:
        _leave_out_unlike(problem, unknown)
    if unknown and command.endswith(" submit"):
        help += f" What the script is to get goes after two dashes: runyard submit train.py -- {unknown} ..."
    described = getattr(problem, "format_message", None)
    text = (described() if described else str(problem)).replace("is not a valid int range.", "is no whole number.")
    errors.show(errors.CommandError(text, help, code="usage"), as_json)
    return errors.USAGE


def _leave_out_unlike(problem: Any, unknown: str) -> None:
    """Of the options that are listed as meant, leave those that may be: for `--gpu` that is not `--pip`."""
    from difflib import SequenceMatcher

    problem.possibilities = [
        each
        for each in problem.possibilities or ()
        if each.startswith(unknown) or SequenceMatcher(None, unknown.strip("-"), each.strip("-")).ratio() > LIKE
    ]


def _show_traceback(problem: Exception) -> int:
    import traceback

    traceback.print_exception(type(problem), problem, problem.__traceback__)
    return errors.FAILED


def _reader_left() -> int:
    """The other end of the pipe was closed (`runyard logs ... | head`): stop quietly, also at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return errors.FAILED
