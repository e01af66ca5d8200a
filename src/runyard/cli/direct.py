"""Reading the plain calls of a command, such as `runyard ls -n 5`, without typer.

A call is plain when every option is written out, known, given once and followed by a value that fits, and every
argument has its place. Anything else (help, completion, a mistake, an abbreviation) is left to typer, whose reading of
a plain call is the same: `tests/cli/test_direct.py` compares the two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from pathlib import Path
from typing import Any, get_origin

from runyard.cli.parameters import Argument, Option, Parameter, declaration, hints


class NotPlain(Exception):
    """typer has to read the call."""


def read(function: Callable[..., Any], arguments: Sequence[str]) -> dict[str, Any]:
    """What to call a command with; NotPlain when that is not for this module to say."""
    parameters = {name: _Parameter(name, hint) for name, hint in hints(function).items()}
    places = [each for each in parameters.values() if isinstance(each.declared, Argument)]
    options = {text: (each, value) for each in parameters.values() for text, value in each.forms.items()}
    found: dict[str, Any] = {}
    loose: list[str] = []
    left = list(arguments)
    while left:
        text = left.pop(0)
        if text == "--":
            loose += left
            break
        if text == "-" or not text.startswith("-"):
            loose.append(text)
            continue
        value: Any
        name, equals, value = text.partition("=") if text.startswith("--") else (text, "", "")
        if name not in options:
            raise NotPlain
        parameter, constant = options[name]
        if constant is not None:
            value = constant
        elif not equals:
            if not left or left[0].startswith("-"):
                raise NotPlain
            value = left.pop(0)
        parameter.put(found, value, bool(equals and constant is not None))
    _place(places, loose, found)
    return _with_defaults(function, parameters, found)


def _place(places: list[_Parameter], loose: list[str], found: dict[str, Any]) -> None:
    for parameter in places:
        if parameter.many:
            for text in loose:
                parameter.put(found, text)
            loose = []
        elif loose:
            parameter.put(found, loose.pop(0))
    if loose:
        raise NotPlain


def _with_defaults(
    function: Callable[..., Any], parameters: dict[str, _Parameter], found: dict[str, Any]
) -> dict[str, Any]:
    defaults = function.__defaults__ or ()
    names = list(parameters)
    given = dict(zip(names[len(names) - len(defaults) :], defaults, strict=True))
    for name, parameter in parameters.items():
        if name not in found:
            if name not in given:
                raise NotPlain  # it is missing
            found[name] = given[name]
        callback = parameter.declared.settings.get("callback")
        if callback is not None:
            found[name] = _checked(callback, found[name])
    return found


def _checked(callback: Callable[[Any], Any], value: Any) -> Any:
    try:
        return callback(value)
    except Exception as error:
        raise NotPlain from error  # typer refuses it too, and tells of which parameter


class _Parameter:
    def __init__(self, name: str, hint: Any) -> None:
        declared = declaration(hint)
        if declared is None:
            raise NotPlain
        self.declared: Parameter = declared
        self.name = name
        kinds = [each for each in getattr(hint.__origin__, "__args__", ()) if each is not type(None)]
        kind = kinds[0] if kinds and get_origin(hint.__origin__) is not list else hint.__origin__
        self.many = get_origin(kind) is list
        self._kind = kind.__args__[0] if self.many else kind

    @property
    def forms(self) -> dict[str, bool | None]:
        """The names of an option, each with the value that it stands for alone."""
        if not isinstance(self.declared, Option):
            return {}
        if self._kind is not bool:
            return dict.fromkeys(self.declared.names)
        pairs = [name.partition("/") for name in self.declared.names]
        return {**{on: True for on, _, _ in pairs}, **{off: False for _, _, off in pairs if off}}

    def put(self, found: dict[str, Any], text: Any, refused: bool = False) -> None:
        if refused or (self.name in found and not self.many):
            raise NotPlain
        value = text if self._kind is bool else self._value(text)
        if self.many:
            found.setdefault(self.name, []).append(value)
        else:
            found[self.name] = value

    def _value(self, text: str) -> Any:
        settings = self.declared.settings
        try:
            if self._kind is str:
                return text
            if self._kind in (int, float):
                value = self._kind(text)
                least, most = settings.get("min"), settings.get("max")
                if (least is not None and not value >= least) or (most is not None and not value <= most):
                    raise NotPlain
                return value
            if isinstance(self._kind, type) and issubclass(self._kind, Enum):
                return self._kind(text)
            if self._kind is Path and not settings.keys() & {"exists", "resolve_path", "file_okay", "dir_okay"}:
                return Path(text)
        except ValueError as error:
            raise NotPlain from error
        raise NotPlain
