"""JSON files that one process leaves for another: validated as they are read.

A file may be truncated by a power cut, be edited by hand, or come from another version. Readers get what the file
should hold, or a `BadFile` with the reason; never a TypeError three calls later.
"""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from runyard.system.files import content
from runyard.system.records import fields

Made = TypeVar("Made")

_KINDS: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
    "list": (list,),
    "dict": (dict,),
    "None": (type(None),),
}


class BadFile(ValueError):
    """A file that does not hold what it should; the message names the file and the reason."""


def read_object(path: Path) -> dict[str, Any]:
    """The JSON object in a file. BadFile when it holds anything else; OSError when it cannot be read."""
    return as_object(content(str(path)), path)


def as_object(text: bytes, path: Path) -> dict[str, Any]:
    """The JSON object in the text of a file."""
    try:
        document = json.loads(text.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise BadFile(f"{path} does not hold JSON: {error}") from error
    if not isinstance(document, dict):
        raise BadFile(f"{path} does not hold a JSON object.")
    return document


def made_of(kind: type[Made], document: object, path: Path) -> Made:
    """A record from the fields in a file; fields of other versions are ignored.

    Types are checked as far as JSON has them: that a list is a list, not its items.
    """
    if not isinstance(document, dict):
        raise BadFile(f"{path} does not hold what it should: {kind.__name__} is not an object.")
    found = {}
    for field in fields(kind):
        if field.name in document:
            if not _fits(document[field.name], field.type):
                raise BadFile(f"{path} does not hold what it should: {field.name!r} is not of type {field.type}.")
            found[field.name] = document[field.name]
        elif field.needed:
            raise BadFile(f"{path} does not hold what it should: {field.name!r} is missing.")
    return kind(**found)


def is_process(pid: object) -> bool:
    """Whether a number can be the id of a process: signals to 0 and below go to whole groups."""
    return type(pid) is int and 0 < pid < 1 << 31


def _fits(value: object, annotation: str) -> bool:
    return any(name not in _KINDS or type(value) in _KINDS[name] for name in _names(annotation))


@lru_cache(maxsize=256)
def _names(annotation: str) -> tuple[str, ...]:
    return tuple(each.partition("[")[0].strip() for each in annotation.split(" | "))
