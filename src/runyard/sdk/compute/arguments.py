"""The arguments of compute configurations as notebooks give them, and as Azure's service took them: a number may be a
text, a choice may be in any case."""

from __future__ import annotations

import operator
from typing import Sequence

from runyard.sdk.exceptions import ComputeTargetException

LONGEST = 15
"""Digits of a number: more than any number of nodes, seconds or ports has."""

_SWITCHES = {"true": True, "enabled": True, "yes": True, "false": False, "disabled": False, "no": False}


def whole_number(name: str, value: object, least: int = 0, most: int | None = None) -> int:
    """
    >>> whole_number("max_nodes", "4"), whole_number("max_nodes", 4.0)
    (4, 4)
    """
    number = _number(value)
    if number is None or number < least or (most is not None and number > most):
        rule = f"from {least} on" if most is None else f"from {least} to {most}"
        raise ComputeTargetException(f"{name} must be a whole number {rule}, not {value!r}.")
    return number


def switch(name: str, value: object) -> bool:
    """
    >>> switch("ssh_public_access", "Enabled"), switch("ssh_public_access", "false")
    (True, False)
    """
    if value is None or value == "":
        return False
    if isinstance(value, str):
        known = _SWITCHES.get(value.strip().lower())
    else:
        known = bool(value) if isinstance(value, int) and value in (0, 1) else None
    if known is None:
        raise ComputeTargetException(f"{name} is True or False, not {value!r}.")
    return known


def chosen(name: str, value: object, choices: Sequence[str]) -> str:
    """The choice that is meant, in whatever case it is written.

    >>> chosen("identity_type", "systemassigned", ["SystemAssigned", "UserAssigned"])
    'SystemAssigned'
    """
    for choice in choices:
        if isinstance(value, str) and value.strip().lower() == choice.lower():
            return choice
    raise ComputeTargetException(f"{name} is one of {', '.join(choices)}, not {value!r}.")


def _number(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        text = value.strip()
        return int(text) if text.isascii() and text.isdigit() and len(text) <= LONGEST else None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    try:
        return operator.index(value)  # type: ignore[arg-type]  # a number of NumPy, for instance
    except TypeError:
        return None
