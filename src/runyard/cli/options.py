"""What several commands share: options and arguments."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from typing import Annotated

from runyard.cli.completion import run_ids, target_names
from runyard.cli.parameters import Argument, Option, bad_parameter


def pairs(texts: list[str], option: str) -> dict[str, str]:
    """Read `KEY=VALUE` texts.

    >>> pairs(["a=1", "b=x=y"], "--tag")
    {'a': '1', 'b': 'x=y'}
    """
    found = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not key or not equals:
            raise bad_parameter(f"{text!r} is not KEY=VALUE.", param_hint=option)
        found[key] = value
    return found


def size(text: str, option: str) -> int:
    """Read a number of bytes.

    >>> size("20GB", "--limit"), size("1.5 MiB", "--limit"), size("100", "--limit")
    (20000000000, 1572864, 100)
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?", text.strip(), re.IGNORECASE)
    if found is None:
        raise bad_parameter(f"{text!r} is no size; one looks like 20GB.", param_hint=option)
    return int(float(found[1]) * (1024 if found[3] else 1000) ** " kmgt".index(found[2].lower() or " "))


def seconds(text: str, option: str) -> float:
    """Read a length of time.

    >>> seconds("30d", "--unused-for"), seconds("1.5h", "--unused-for")
    (2592000.0, 5400.0)
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(s|min|m|h|d|w)", text.strip(), re.IGNORECASE)
    if found is None:
        raise bad_parameter(f"{text!r} is no length of time; one looks like 30d or 12h.", param_hint=option)
    return float(found[1]) * {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400, "w": 604800}[found[2].lower()]


def time_ago(text: str | None, option: str) -> datetime | None:
    """The time so long ago; None when none is given."""
    if text is None:
        return None
    try:
        return datetime.now(timezone.utc) - timedelta(seconds=seconds(text, option))
    except OverflowError:
        raise bad_parameter(f"{text!r} reaches back before there was a calendar.", param_hint=option) from None


RunArgument = Annotated[
    str,
    Argument(
        metavar="RUN",
        help="A run's id, a part of it that fits one run only, or '@last' or '-' for the newest.",
        autocompletion=run_ids,
        show_default=False,
    ),
]
TargetArgument = Annotated[
    str,
    Argument(
        metavar="NAME",
        help="A compute target; `runyard compute ls` lists them.",
        autocompletion=target_names,
        show_default=False,
    ),
]
OlderThanOption = Annotated[
    str | None,
    Option(
        "--older-than",
        metavar="TIME",
        help="Only runs that were made longer ago than this, such as 30d or 12h.",
        show_default=False,
    ),
]
LimitOption = Annotated[
    str | None,
    Option("--limit", metavar="SIZE", help="Keep no more than this, such as 20GB.", show_default=False),
]
UnusedForOption = Annotated[
    str | None,
    Option(
        "--unused-for",
        metavar="TIME",
        help="Remove what was not used for this long, such as 30d or 12h.",
        show_default=False,
    ),
]
JsonOption = Annotated[bool, Option("--json", help="Print JSON for programs.")]
