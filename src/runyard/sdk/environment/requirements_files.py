"""Files of pip requirements: their effective lines, with the files that they include inserted."""

from __future__ import annotations

import os
import re
from typing import Iterable

from runyard.contracts import pip_requirements
from runyard.sdk.environment.requirement_lines import portable
from runyard.sdk.exceptions import UserErrorException

COMMENT = re.compile(r"(^|\s)#.*$")


def read(path: str | os.PathLike[str]) -> list[str]:
    """The lines of a requirements file. One that holds no package is refused."""
    place = os.path.abspath(path)
    if not os.path.isfile(place):
        raise FileNotFoundError(f"There is no requirements file at {os.fspath(path)!r} (seen from {os.getcwd()}).")
    lines = _read(place, ())
    if all(pip_requirements.is_option(line) for line in lines):
        raise UserErrorException(
            f"{os.fspath(path)} holds no packages. Write one a line, such as `numpy==1.26.4`; where none are needed, "
            "use an environment with `env.python.user_managed_dependencies = True`."
        )
    return lines


def inlined(lines: Iterable[str], file: str, including: tuple[str, ...] = ()) -> list[str]:
    """The lines of `file`: included files (`-r other.txt`) are inserted in their place, and paths of them and of
    find-links begin at the folder of `file`, as they do for pip."""
    found: list[str] = []
    for line in lines:
        name, value = pip_requirements.option(line) if pip_requirements.is_option(line) else ("", "")
        if name == "--requirement":
            found += _read(_included(value, file), (*including, file))
        elif name == "--find-links" and not pip_requirements.is_address(value):
            found.append(f"{name} {_beside(value, file)}")
        else:
            found.append(portable(line, file))
    return found


def _read(path: str, including: tuple[str, ...]) -> list[str]:
    if path in including:
        chain = " → ".join((*including[including.index(path) :], path))
        raise UserErrorException(f"{path} includes itself: {chain}. Take one of the `-r` lines away.")
    try:
        with open(path, encoding="utf-8-sig") as file:
            text = file.read().replace("\\\n", " ")
    except UnicodeDecodeError as error:
        raise UserErrorException(f"{path} is no text in UTF-8 ({error.reason}). Save it as UTF-8.") from None
    lines = (COMMENT.sub("", line).strip() for line in text.splitlines())
    return inlined((line for line in lines if line), path, including)


def _included(value: str, file: str) -> str:
    if pip_requirements.is_address(value):
        raise UserErrorException(
            f"{file} includes a file from another machine, which may change behind the environment's back: download "
            "it, and include it by its path."
        )
    place = _beside(value, file)
    if not os.path.isfile(place):
        raise FileNotFoundError(f"{file} includes {value!r}, but there is no file {place}.")
    return place


def _beside(value: str, file: str) -> str:
    return os.path.normpath(os.path.join(os.path.dirname(file), os.path.expanduser(value)))
