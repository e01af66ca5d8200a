"""Lines of a pip requirements file: what package a line names, how lines about one package are joined, and which lines
mean something only on the machine where they were written. Files of such lines are read in `requirements_files`."""

from __future__ import annotations

import re
from typing import Iterable, NamedTuple

from runyard.contracts.secrets import mask
from runyard.sdk.exceptions import UserErrorException

NAME = re.compile(r"\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(\[[^\]]*\])?\s*(.*)", re.DOTALL)
LONG_NAMES = {
    "-r": "--requirement",
    "-c": "--constraint",
    "-e": "--editable",
    "-f": "--find-links",
    "-i": "--index-url",
}

_NAMED = re.compile(r"[A-Za-z0-9._-]+(?:\s*\[[^\]]*\])?\s*@\s*")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_FILES = (".whl", ".tar.gz", ".tgz", ".zip", ".tar.bz2")


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


def portable(line: str, where: str = "") -> str:
    """The line as an environment can hold it: one that hangs on files of this machine is refused with the way out.

    >>> portable("-e git+https://g.example/a.git#egg=a")
    'git+https://g.example/a.git#egg=a'
    """
    told = f"{where}: {mask(line.strip())!r}" if where else repr(mask(line.strip()))
    if not is_option(line):
        if _is_path(line):
            raise UserErrorException(f"{told} is a package on this machine's disk. {_OWN_PACKAGE}")
        return line.strip()
    name, value = option(line)
    if name == "--editable":
        if not is_address(value):
            raise UserErrorException(f"{told} installs a folder of this machine. {_OWN_PACKAGE}")
        return value
    if name == "--requirement":
        raise UserErrorException(
            f"{told} names another file of requirements. Write its lines here, or let "
            "Environment.from_pip_requirements(name, file) read it from this machine, with those that it includes."
        )
    if name == "--constraint" and not is_address(value):
        raise UserErrorException(
            f"{told} names a file of constraints, which does not travel with the environment. Write the versions into "
            "the requirements themselves, or give the constraints by their address (-c https://...)."
        )
    return line.strip()


_OWN_PACKAGE = (
    "An environment is built from its specification alone, perhaps on another machine. Put the package's code into the "
    "source folder of the run; or make a wheel of it (pip wheel --no-deps), keep it with "
    "Environment.add_private_pip_wheel(workspace, file) and ask for the address that this returns."
)


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
                mask(f"{new.name} is asked for twice: {old.specifier!r} and {new.specifier!r}. Keep one.")
            )
        parts = [part.strip() for each in (old, new) for part in each.specifier.split(",") if part.strip()]
        merged[place] = Requirement(old.name, old.extras | new.extras, ",".join(dict.fromkeys(parts)), old.marker)
    return [_text(each) for each in merged.values()]


def _is_path(line: str) -> bool:
    """Whether a line names a folder or a file. An address (`file:///...` too) is none: whoever writes one means it."""
    text = line.strip()
    named = _NAMED.match(text)
    rest = text[named.end() :] if named else text
    if is_address(rest) or rest.startswith("git+"):
        return False
    if rest.startswith((".", "/", "~", "\\", "file:")):
        return True
    first = re.split(r"[\s;\[<>=!~]", rest, maxsplit=1)[0]
    return "/" in first or "\\" in first or rest.lower().endswith(_FILES)


def _text(each: Requirement) -> str:
    if each.name is None:
        return each.specifier
    extras = f"[{','.join(sorted(each.extras))}]" if each.extras else ""
    gap = " " if each.specifier.startswith("@") else ""
    marker = f"; {each.marker}" if each.marker else ""
    return f"{each.name}{extras}{gap}{each.specifier}{' ' if gap and marker else ''}{marker}"
