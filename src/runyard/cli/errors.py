"""Error messages of the command, and their exit codes."""

from __future__ import annotations

import json
import os
import sys

from runyard.cli.output.terminal import style
from runyard.system.records import field, record

FAILED = 1  # the thing itself failed: a run, a check, a refused request
USAGE = 2  # the command was called wrongly
NOT_FOUND = 3  # there is no such run, experiment, file, environment or setting
UNREACHABLE = 4  # the server cannot be reached or started
INTERRUPTED = 130  # Ctrl-C

UNREACHABLE_CODES = frozenset({"server_unreachable", "server_not_started", "bad_address", "not_ready"})


@record()
class CommandError(Exception):
    """What is wrong and what to do; ends the command with `exit_code`."""

    title: str
    help: str = ""
    exit_code: int = FAILED
    code: str = "failed"
    detail: dict[str, object] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.title


def show(error: CommandError, as_json: bool) -> None:
    """Write an error to standard error: two lines for a person, one document for a program."""
    if as_json:
        document = {"code": error.code, "title": error.title, "help": error.help, "detail": error.detail}
        print(json.dumps({"error": document}), file=sys.stderr)
        return
    print(style("Error: ", sys.stderr, fg="red", bold=True) + error.title, file=sys.stderr)
    if error.help:
        print(error.help, file=sys.stderr)


def debugging() -> bool:
    """Whether the user asked to see tracebacks."""
    return os.environ.get("RUNYARD_DEBUG", "") not in ("", "0")


def explain(problem: Exception) -> CommandError:
    """Any error as a message and an exit code. An unexpected one names its type and how to see more."""
    from runyard.client.http import ClientProblem
    from runyard.contracts.names import BadName
    from runyard.sdk.exceptions import AzureMLException

    if isinstance(problem, CommandError):
        return problem
    if isinstance(problem, ClientProblem):
        if problem.code in UNREACHABLE_CODES:
            exit_code = UNREACHABLE
        else:
            exit_code = NOT_FOUND if problem.status == 404 else FAILED
        return CommandError(problem.title, problem.help, exit_code, problem.code, problem.detail)
    if isinstance(problem, AzureMLException):
        cause = problem.inner_exception or problem.__cause__
        return explain(cause) if isinstance(cause, ClientProblem) else CommandError(problem.message, code="refused")
    if isinstance(problem, BadName):
        return CommandError(str(problem), code="bad_name")
    if isinstance(problem, OSError):
        return CommandError(f"{problem.strerror or problem}: {problem.filename}" if problem.filename else str(problem))
    return CommandError(
        f"{type(problem).__name__}: {problem}", "RUNYARD_DEBUG=1 shows where it came from.", code="unexpected"
    )
