"""Lines of pip requirements in an environment: joining those about one package, and refusing lines that make sense only
on the machine where they were written. Files of such lines are read in `requirements_files`."""

from __future__ import annotations

import re
from typing import Iterable

from runyard.contracts.pip_requirements import Requirement, is_address, is_option, option, parse
from runyard.contracts.secrets import mask
from runyard.sdk.exceptions import UserErrorException

_NAMED = re.compile(r"[A-Za-z0-9._-]+(?:\s*\[[^\]]*\])?\s*@\s*")
_FILES = (".whl", ".tar.gz", ".tgz", ".zip", ".tar.bz2")


def portable(line: str, where: str = "") -> str:
    """The line as an environment can hold it: one that depends on files of this machine is refused with advice.

    >>> portable("-e git+https://g.example/a.git#egg=a")
    'git+https://g.example/a.git#egg=a'
    """
    shown = f"{where}: {mask(line.strip())!r}" if where else repr(mask(line.strip()))
    if not is_option(line):
        if _is_path(line):
            raise UserErrorException(f"{shown} is a package on this machine's disk. {_OWN_PACKAGE}")
        return line.strip()
    name, value = option(line)
    if name == "--editable":
        if not is_address(value):
            raise UserErrorException(f"{shown} installs a folder of this machine. {_OWN_PACKAGE}")
        return value
    if name == "--requirement":
        raise UserErrorException(
            f"{shown} names another file of requirements. Write its lines here, or let "
            "Environment.from_pip_requirements(name, file) read it from this machine, with those that it includes."
        )
    if name == "--constraint" and not is_address(value):
        raise UserErrorException(
            f"{shown} names a file of constraints, which does not travel with the environment. Write the versions into "
            "the requirements themselves, or give the constraints by their address (-c https://...)."
        )
    return line.strip()


_OWN_PACKAGE = (
    "An environment is built from its specification alone, perhaps on another machine. Put the package's code into the "
    "source folder of the run; or make a wheel of it (pip wheel --no-deps), keep it with "
    "Environment.add_private_pip_wheel(workspace, file) and ask for the address that this returns."
)


def merge(lines: Iterable[str]) -> list[str]:
    """One line per package: the version constraints are joined with a comma, extras are merged.

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
    """Whether a line names a folder or a file. An address (`file:///...` too) is none: it was written on purpose."""
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
