"""A plain call is read as typer reads it, and any other is left to typer: the same text must never mean two things."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any

import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.main import get_command

from runyard.cli import direct
from runyard.cli.main import COMMANDS
from runyard.cli.parameters import Option, declaration, declare_to_typer, hints

VALUES = ["", "1", "0", "-1", "x", "-", "--", "--nope", "newest", "Running", "a=b", "all", "mpi", "PyTorch", "-h"]


def function_of(name: str) -> Callable[..., Any]:
    found: Callable[..., Any] = getattr(importlib.import_module(f"runyard.cli.commands.{COMMANDS[name][0]}"), name)
    return found


def read_by_typer(function: Callable[..., Any], arguments: list[str]) -> dict[str, Any]:
    """What typer calls a command with."""
    seen: dict[str, Any] = {}

    def command(**given: Any) -> None:
        seen.update(given)

    command.__signature__ = inspect.signature(declare_to_typer(function))  # type: ignore[attr-defined]
    command.__annotations__ = function.__annotations__
    app = typer.Typer(add_completion=False)
    app.command()(command)
    get_command(app).main(list(arguments), "runyard", standalone_mode=False)
    return seen


def read(function: Callable[..., Any], arguments: list[str]) -> dict[str, Any] | None:
    try:
        return direct.read(function, arguments)
    except direct.NotPlain:
        return None


def same(ours: dict[str, Any], theirs: dict[str, Any]) -> bool:
    """Nothing given is None, or an empty list: commands take them for the same."""
    return {name: value or None for name, value in ours.items()} == {n: v or None for n, v in theirs.items()}


def pieces(name: str) -> list[str]:
    """What calls of a command are put together from."""
    declared = [found for hint in hints(function_of(name)).values() if (found := declaration(hint))]
    options = [each for one in declared if isinstance(one, Option) for text in one.names for each in text.split("/")]
    return [*options, *(f"{each}=1" for each in options[:4]), *VALUES]


@pytest.mark.parametrize("name", sorted(COMMANDS))
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_whatever_is_read_here_is_read_by_typer_in_the_same_way(name: str, data: st.DataObject) -> None:
    arguments = data.draw(st.lists(st.sampled_from(pieces(name)), max_size=5))
    ours = read(function_of(name), arguments)
    if ours is not None:
        assert same(ours, read_by_typer(function_of(name), arguments))


@pytest.mark.parametrize(
    "call",
    [
        "ls",
        "ls -n 5 --json",
        "ls --limit=5 -e digits --sort largest -t a=1 -t b",
        "show @last",
        "show - --json",
        "stop digits_1 --no-wait",
        "logs -f digits_1",
        "submit train.py",
        "submit train.py -e digits --nodes 2 -- --lr 0.1",
        "submit --command true --source /tmp -t a=b",
        "up",
        "du",
    ],
)
def test_usual_calls_need_no_typer(call: str) -> None:
    name, *arguments = call.split()
    ours = read(function_of(name), arguments)
    assert ours is not None
    assert same(ours, read_by_typer(function_of(name), arguments))


@pytest.mark.parametrize(
    "call",
    [
        "ls --help",
        "ls -h",
        "ls --lim 5",
        "ls -n5",
        "ls -n 0",
        "ls -n x",
        "ls -n",
        "ls -n 1 -n 2",
        "ls --json=yes",
        "ls --status unknown",
        "ls surplus",
        "show",
        "submit train.py --lr 0.1",
        "stop --wait --no-wait r",
    ],
)
def test_help_and_mistakes_are_left_to_typer(call: str) -> None:
    name, *arguments = call.split()
    assert read(function_of(name), arguments) is None
