"""Suggestions for commands that other tools call by another name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from typer.core import TyperGroup

if TYPE_CHECKING:
    from typer import Context

ELSEWHERE = {
    "add": "create",
    "cancel": "stop",
    "clean": "gc",
    "delete": "rm",
    "describe": "show",
    "destroy": "rm",
    "details": "show",
    "download": "get",
    "exec": "submit",
    "fetch": "get",
    "info": "show",
    "inspect": "show",
    "jobs": "ls",
    "kill": "stop",
    "launch": "submit",
    "list": "ls",
    "new": "create",
    "output": "logs",
    "prune": "gc",
    "ps": "ls",
    "queue": "ls",
    "remove": "rm",
    "run": "submit",
    "start": "up",
    "stat": "show",
    "status": "show",
    "tail": "logs",
    "terminate": "stop",
    "train": "submit",
    "usage": "du",
    "watch": "logs",
}
"""Names of other tools, and the command that does it here."""

SENTENCES = {
    "compare": "`runyard metrics RUN` shows the metrics of one run: call it for each, with --json for a program to "
    "compare them.",
}
"""What no single command does."""


class Suggesting(TyperGroup):
    """A group of commands that knows their names elsewhere."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name = args[0]
        if name not in self.commands:
            _suggest(ctx, name, ELSEWHERE.get(name.lower()) in self.commands)
        return super().resolve_command(ctx, args)


def _suggest(context: Context, name: str, is_here: bool) -> None:
    """Refuse the call, where there is something to suggest."""
    command = name.lower()
    if is_here:
        context.fail(f"No such command {name!r}. Did you mean {ELSEWHERE[command]!r}?")
    if command in SENTENCES and context.parent is None:
        context.fail(f"No such command {name!r}. {SENTENCES[command]}")
