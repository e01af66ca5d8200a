"""Options and arguments that several commands share, and the completion of run ids."""

from __future__ import annotations

from typing import Annotated

import typer


def run_ids(incomplete: str) -> list[str]:
    """The newest runs that begin so, for the shell's completion; none when no server answers at once."""
    from runyard.cli import api

    return [run_id for run_id in api.newest_ids_if_quick() if run_id.startswith(incomplete)]


def pairs(texts: list[str], option: str) -> dict[str, str]:
    """Read `KEY=VALUE` texts.

    >>> pairs(["a=1", "b=x=y"], "--tag")
    {'a': '1', 'b': 'x=y'}
    """
    found = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not key or not equals:
            raise typer.BadParameter(f"{text!r} is not KEY=VALUE.", param_hint=option)
        found[key] = value
    return found


RunArgument = Annotated[
    str,
    typer.Argument(
        metavar="RUN",
        help="A run's id, a beginning of it that fits one run only, its last part, or '@last' or '-' for the newest.",
        autocompletion=run_ids,
        show_default=False,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
