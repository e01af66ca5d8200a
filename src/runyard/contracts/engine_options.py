"""The options that a compute target gives to its engine: their form, and the check of what a user has written.

Whether a value means anything to the cluster (a partition that exists, an address that answers) is for the engine to
find out; this checks only what needs no cluster. Which options an engine has is in `runyard.contracts.engines`.
"""

from __future__ import annotations

import difflib
from typing import Any, Iterable, Mapping, NamedTuple

TEXT, PATH, NUMBERS, SECONDS, SWITCH = "a text", "a whole path", "numbers by name", "seconds", "true or false"

LONGEST = 1000
"""Characters of a value."""


class Option(NamedTuple):
    name: str
    form: str
    help: str
    required: bool = False


class BadOptions(ValueError):
    """Options that the engine cannot take; the text names them, and what to do."""


def check(engine: str, known_options: Iterable[Option], options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that have a value, checked against those that the engine has.

    >>> check("pbs", [Option("queue", TEXT, "the queue")], {"queue": "long", "account": None})
    {'queue': 'long'}
    """
    known = {option.name: option for option in known_options}
    given = {name: value for name, value in options.items() if value not in (None, "", {})}
    for name, value in given.items():
        if name not in known:
            raise BadOptions(_unknown(engine, name, list(known)))
        given[name] = _read(known[name].form, value)
        problem = _wrong_form(known[name].form, given[name])
        if problem:
            raise BadOptions(f"{value!r} is no {name} for the engine {engine}: {problem}.")
    for option in known.values():
        if option.required and option.name not in given:
            raise BadOptions(f"The engine {engine} needs the option {option.name}: {option.help}.")
    return given


def _unknown(engine: str, name: str, known: list[str]) -> str:
    if not known:
        return f"The engine {engine} takes no options, so not {name!r} either."
    near = difflib.get_close_matches(name, known, 1)
    meant = f" Did you mean {near[0]!r}?" if near else ""
    return f"The engine {engine} has no option {name!r}.{meant} It takes: {', '.join(known)}."


def _read(form: str, value: Any) -> Any:
    """A value that came through a command line as text, in its own type."""
    if form == SWITCH and isinstance(value, str):
        return {"true": True, "false": False}.get(value.lower(), value)
    if form == SECONDS and isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20:
        return int(value)
    return value


def _wrong_form(form: str, value: object) -> str:
    """What is wrong with a value, or nothing."""
    if form == NUMBERS:
        if not isinstance(value, Mapping) or not all(_is_amount(each) for each in value.values()):
            return 'name resources with amounts above 0, such as {"special": 1}'
        return ""
    if form == SWITCH:
        return "" if isinstance(value, bool) else "it is true or false"
    if form == SECONDS:
        whole = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31
        return "" if whole else "it is a number of seconds from 0 on"
    if not isinstance(value, str) or len(value) > LONGEST or not value.isprintable() or not value.strip():
        return f"it is {form}, in one line"
    if form == PATH and not value.startswith("/"):
        return "give the whole path, from / on"
    return ""


def _is_amount(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < float("inf")
