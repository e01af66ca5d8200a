"""Lines of a pip requirements file: what package a line names, and how lines about one package are joined."""

from __future__ import annotations

import os
import re
from typing import Iterable, NamedTuple

from runyard.sdk.exceptions import UserErrorException

NAME = re.compile(r"\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(\[[^\]]*\])?\s*(.*)", re.DOTALL)
COMMENT = re.compile(r"(^|\s)#.*$")
NESTED = re.compile(r"(?:-r|--requirement)[\s=]*(\S.*)")


class Requirement(NamedTuple):
    """`torch[extra]>=1.6; python_version < "3.9"` in its parts. What is told by its address alone has no name."""

    name: str | None
    extras: frozenset[str]
    specifier: str
    marker: str

    @property
    def key(self) -> str | None:
        """The name as pip compares it."""
        return None if self.name is None else re.sub(r"[-_.]+", "-", self.name).lower()


def is_option(line: str) -> bool:
    """Whether a line tells pip how to work (`--index-url ...`) rather than what to install."""
    return line.lstrip().startswith("-")


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


def merge(lines: Iterable[str]) -> list[str]:
    """One line per package: the versions that are asked for are joined with a comma, extras are united.

    >>> merge(["numpy==1.0", "torch", "numpy<2"])
    ['numpy==1.0,<2', 'torch']
    """
    merged: dict[tuple[str, str], Requirement] = {}
    for line in lines:
        if not line.strip():
            continue
        new = parse(line)
        place = (new.key or new.specifier, new.marker)
        old = merged.setdefault(place, new)
        if new.name is None or old is new:
            continue
        if "@" in (old.specifier[:1], new.specifier[:1]) and old.specifier != new.specifier:
            raise UserErrorException(
                f"{new.name} is asked for twice: {old.specifier!r} and {new.specifier!r}. Keep one."
            )
        parts = [part.strip() for each in (old, new) for part in each.specifier.split(",") if part.strip()]
        merged[place] = Requirement(old.name, old.extras | new.extras, ",".join(dict.fromkeys(parts)), old.marker)
    return [_text(each) for each in merged.values()]


def read_file(path: str | os.PathLike[str]) -> list[str]:
    """The lines of a requirements file that count, with the files that it includes (`-r other.txt`) in their place."""
    return _read(os.path.abspath(path), ())


def _read(path: str, including: tuple[str, ...]) -> list[str]:
    if path in including:
        raise UserErrorException(f"{path} includes itself, by way of {', '.join(including)}.")
    with open(path, encoding="utf-8-sig") as file:
        text = file.read().replace("\\\n", " ")
    found: list[str] = []
    for line in text.splitlines():
        line = COMMENT.sub("", line).strip()
        nested = NESTED.fullmatch(line)
        if nested:
            found += _read(os.path.join(os.path.dirname(path), nested[1].strip()), (*including, path))
        elif line:
            found.append(line)
    return found


def _text(each: Requirement) -> str:
    if each.name is None:
        return each.specifier
    extras = f"[{','.join(sorted(each.extras))}]" if each.extras else ""
    gap = " " if each.specifier.startswith("@") else ""
    marker = f"; {each.marker}" if each.marker else ""
    return f"{each.name}{extras}{gap}{each.specifier}{' ' if gap and marker else ''}{marker}"
