"""What the parameters of a command are called and mean, declared once for its two readers.

`runyard.cli.direct` reads the plain calls of a command from these declarations. typer makes the whole command tree of
them: help, completion, suggestions and every message about a wrong call. It takes longer to load than most commands
take to do their work, so it is loaded only where one of those is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, get_type_hints


class Parameter:
    """Names and settings, in the form in which typer takes them."""

    def __init__(self, *names: str, **settings: Any) -> None:
        self.names, self.settings = names, settings


class Option(Parameter):
    """A parameter with a name: `Annotated[int, Option("--limit", "-n", min=1, help="...")]`."""


class Argument(Parameter):
    """A parameter by its place: `Annotated[str, Argument(metavar="RUN", help="...")]`."""


def hints(function: Callable[..., Any]) -> dict[str, Any]:
    """The types of a command's parameters, with their declarations."""
    return {name: hint for name, hint in get_type_hints(function, include_extras=True).items() if name != "return"}


def declaration(hint: Any) -> Parameter | None:
    """The declaration in the type of a parameter."""
    return next((each for each in getattr(hint, "__metadata__", ()) if isinstance(each, Parameter)), None)


def declare_to_typer(function: Callable[..., Any]) -> Callable[..., Any]:
    """Write the declarations of a command as typer reads them, beside ours; returns the same function."""
    import typer

    found = hints(function)
    for name, hint in found.items():
        declared = declaration(hint)
        if declared is not None:
            kind = typer.Option if isinstance(declared, Option) else typer.Argument
            found[name] = Annotated[hint.__origin__, kind(*declared.names, **declared.settings), declared]
    function.__annotations__ = found
    return function


def bad_parameter(message: str, param_hint: str | None = None) -> Exception:
    """What a command raises that was called wrongly; `param_hint` names the parameter."""
    import typer

    return typer.BadParameter(message, param_hint=param_hint)


def leave(code: int) -> Exception:
    """What a command raises to end with an exit code, with nothing more to be shown."""
    import typer

    return typer.Exit(code)
