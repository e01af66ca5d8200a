"""Suggestions for commands that other tools call by another name."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup

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
    "repeat": "rerun",
    "retry": "rerun",
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


class Suggesting(TyperGroup):
    """A group of commands that knows their names elsewhere."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name = args[0]
        meant = ELSEWHERE.get(name.lower())
        if name not in self.commands and meant in self.commands:
            ctx.fail(f"No such command {name!r}. Did you mean {meant!r}?")
        return super().resolve_command(ctx, args)
