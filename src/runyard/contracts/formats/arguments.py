"""The arguments of a script as parameters with names: reading them, and changing one.

Scripts read their arguments as they like, so this is a reading by custom: `--name value`, `--name=value`, flags without
a value, and what has only a position.
"""

from __future__ import annotations

import re
from typing import Mapping, Sequence

FLAG = "true"
"""What is shown for a flag that is given."""

_OPTION = re.compile(r"--?[^\W\d][\w.\-/]*", re.ASCII)


def parameters(arguments: Sequence[str]) -> dict[str, str]:
    """What a script was told, by name; what has no name, by its position from 1. Of a name that comes twice, the last.

    >>> parameters(["train", "--lr=0.3", "--epochs", "30", "--shift", "-1.5", "--fast"])
    {'#1': 'train', 'lr': '0.3', 'epochs': '30', 'shift': '-1.5', 'fast': 'true'}
    """
    found: dict[str, str] = {}
    place, position = 0, 0
    while place < len(arguments):
        name, value, used = _at(arguments, place)
        if name is None:
            position += 1
            found[f"#{position}"] = value
        else:
            found.pop(name, None)
            found[name] = value
        place += used
    return found


def changed(arguments: Sequence[str], changes: Mapping[str, str]) -> list[str]:
    """The arguments with other values for some names, in the form in which they were; what is new comes at the end.

    >>> changed(["--lr=0.3", "--epochs", "30"], {"epochs": "5", "lr": "1", "seed": "7"})
    ['--lr=1', '--epochs', '5', '--seed', '7']
    """
    made = list(arguments)
    for wanted, value in changes.items():
        name = wanted.lstrip("-")
        places = [place for place in _options(made) if _at(made, place)[0] == name]
        if not places:
            made += [wanted if wanted.startswith("-") else f"--{name}", value]
            continue
        place = places[-1]
        option, equals, _ = made[place].partition("=")
        if equals:
            made[place] = f"{option}={value}"
        elif _at(made, place)[2] == 2:
            made[place + 1] = value
        else:
            made.insert(place + 1, value)
    return made


def _options(arguments: Sequence[str]) -> list[int]:
    """Where the options are."""
    places, place = [], 0
    while place < len(arguments):
        name, _, used = _at(arguments, place)
        if name is not None:
            places.append(place)
        place += used
    return places


def _at(arguments: Sequence[str], place: int) -> tuple[str | None, str, int]:
    """What stands there: a name (None for a bare value), its value, and how many arguments that takes."""
    text = arguments[place]
    option, equals, value = text.partition("=")
    if not _OPTION.fullmatch(option):
        return None, text, 1
    name = option.lstrip("-")
    if equals:
        return name, value, 1
    following = arguments[place + 1] if place + 1 < len(arguments) else None
    if following is None or _OPTION.fullmatch(following.partition("=")[0]):
        return name, FLAG, 1
    return name, following, 2
