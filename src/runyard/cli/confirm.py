"""The question before something is deleted."""

from __future__ import annotations

import sys

from runyard.cli import errors


def agreed(question: str, yes: bool, otherwise: str) -> None:
    """Ask a person; refuse when nobody is there to answer. `otherwise` is the message when the answer is no."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise errors.CommandError(
            f"{otherwise} Nobody is here to answer: {question}",
            "Add --yes to do it without a question.",
            errors.USAGE,
            "not_confirmed",
        )
    import typer

    if not typer.confirm(question, err=True):
        raise errors.CommandError(otherwise, exit_code=errors.FAILED, code="not_confirmed")
