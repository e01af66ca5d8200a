"""Lines of a pip requirements file: options, and the package that a line names."""

from __future__ import annotations

import re
from typing import NamedTuple

NAME = re.compile(r"\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(\[[^\]]*\])?\s*(.*)", re.DOTALL)
LONG_NAMES = {
    "-r": "--requirement",
    "-c": "--constraint",
    "-e": "--editable",
    "-f": "--find-links",
    "-i": "--index-url",
}

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


class Requirement(NamedTuple):
    """`torch[extra]>=1.6; python_version < "3.9"` in its parts. A package given by its address alone has no name."""

    name: str | None
    extras: frozenset[str]
    specifier: str
    marker: str

    @property
    def key(self) -> str | None:
        """The name as pip compares it."""
        return None if self.name is None else re.sub(r"[-_.]+", "-", self.name).lower()


def is_option(line: str) -> bool:
    """Whether a line is an option of pip (`--index-url ...`) rather than a package."""
    return line.lstrip().startswith("-")


def option(line: str) -> tuple[str, str]:
    """An option's name, in its long form, and its value.

    >>> option("-r base.txt"), option("--index-url=https://i.example"), option("--pre")
    (('--requirement', 'base.txt'), ('--index-url', 'https://i.example'), ('--pre', ''))
    """
    text = line.strip()
    if text.startswith("--"):
        name, *value = re.split(r"[\s=]+", text, maxsplit=1)
    else:
        name, *value = text[:2], text[2:].lstrip(" \t=")
    return LONG_NAMES.get(name, name), "".join(value).strip()


def parse(line: str) -> Requirement:
    match = NAME.fullmatch(line)
    if is_option(line) or match is None or match[3].startswith((":", "/", "+")):
        return Requirement(None, frozenset(), line.strip(), "")
    extras = frozenset(extra.strip() for extra in (match[2] or "[]")[1:-1].split(",") if extra.strip())
    # An address may hold a ';' of its own: there the marker follows a blank.
    specifier, _, marker = match[3].partition(" ;" if match[3].startswith("@") else ";")
    return Requirement(match[1], extras, specifier.strip().strip("()").strip(), marker.strip())


def same_package(one: str, other: str) -> bool:
    """Whether two lines are about the same package, whatever its version."""
    key = parse(one).key
    return one.strip() == other.strip() if key is None else key == parse(other).key


def is_address(text: str) -> bool:
    """
    >>> is_address("git+https://g.example/a.git"), is_address("./a")
    (True, False)
    """
    return _ADDRESS.match(text.strip()) is not None
