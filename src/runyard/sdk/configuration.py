"""The base of configuration objects: declared fields, a dictionary form in camelCase, and no misspelt names.

A configuration class is a record under `Configuration` in which every field has a default. A field's key is its name
in camelCase. A field of configurations is marked in its metadata with `of`, `dict_of` or `list_of`. A field whose
name begins with `_` is behind a property.

    @record(repr=False)
    class SparkSection(Configuration):
        packages: list[SparkPackage] = field(default_factory=list, metadata=list_of(SparkPackage))
        precache_packages: bool = True

Which sections there are, and what they mean, is not decided here.
"""

from __future__ import annotations

import copy
import warnings
from typing import TYPE_CHECKING, Any, Callable, ClassVar, Mapping, Protocol, TypeVar

from runyard.sdk.exceptions import RunConfigurationException
from runyard.system.records import MISSING, Field, fields, record

Plain = Any
"""What JSON and YAML can hold: None, bool, int, float, str, lists and dictionaries of these."""

Read = Callable[[Plain, str], object]
Metadata = Mapping[str, object]
C = TypeVar("C", bound="Configuration")


class Section(Protocol):
    """A part of a configuration: it can be written to a dictionary and read back."""

    def to_dict(self) -> dict[str, Plain]: ...

    @classmethod
    def from_dict(cls, document: Mapping[str, Plain], where: str = "") -> Section: ...


def of(kind: type[Section]) -> Metadata:
    """For a field that holds a `kind`, or None."""
    return {"read": kind.from_dict}


def dict_of(kind: type[Section]) -> Metadata:
    """For a field that holds a dictionary of `kind` by name."""

    def read(document: Plain, where: str) -> object:
        _expect(document, dict, where)
        return {name: kind.from_dict(each, f"{where}.{name}") for name, each in document.items()}

    return {"read": read}


def list_of(kind: type[Section]) -> Metadata:
    """For a field that holds a list of `kind`."""

    def read(document: Plain, where: str) -> object:
        _expect(document, list, where)
        return [kind.from_dict(each, f"{where}[{index}]") for index, each in enumerate(document)]

    return {"read": read}


NULLABLE: Metadata = {"nullable": True}
"""For a field whose empty value is a choice of its own: it is written, not replaced by the default."""

SECRET: Metadata = {"secret": True}
"""For a field whose value is written to files but not shown."""


@record(repr=False)
class Configuration:
    """The base of all configuration objects: equal by value, and closed to undeclared attributes."""

    __record_fields__: ClassVar[dict[str, Field]]

    _open: ClassVar[bool] = False
    """True for the few classes that SDK v1 leaves open to any attribute."""

    def to_dict(self) -> dict[str, Plain]:
        """All fields by key, ready for JSON and YAML."""
        return {_key(each): plain(getattr(self, each.name)) for each in fields(self)}

    @classmethod
    def from_dict(cls: type[C], document: Mapping[str, Plain], where: str = "") -> C:
        """Read a dictionary of `to_dict`, or one written by hand; `where` names the place in messages.

        Keys may be in camelCase or snake_case; an empty value means the default; unknown keys cause a warning.
        """
        where = where or cls.__name__
        _expect(document, Mapping, where)
        known = {spelling: each for each in fields(cls) for spelling in (_key(each), _public(each))}
        made = cls.__new__(cls)
        made._fill()
        for key, value in document.items():
            each = known.get(key)
            if each is None or (value is None and not each.metadata.get("nullable")):
                continue
            read: Read = each.metadata.get("read", _copied)
            object.__setattr__(made, each.name, read(value, f"{where}.{key}"))
        unknown = ", ".join(repr(key) for key in document if key not in known)
        if unknown:
            warnings.warn(f"{where}: left out, because {cls.__name__} has no such setting: {unknown}.", stacklevel=2)
        return made

    def _fill(self) -> None:
        """Give every field its default: the first line of a constructor that is written by hand."""
        for each in fields(self):
            object.__setattr__(self, each.name, _default(each))

    if not TYPE_CHECKING:  # type checkers know the fields; seeing this method, they would take any name

        def __setattr__(self, name: str, value: object) -> None:
            is_property = isinstance(getattr(type(self), name, None), property)
            if not (name in self.__record_fields__ or is_property or self._open):
                raise AttributeError(_no_such_attribute(type(self), name))
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        from runyard.contracts.secrets import mask

        values = ((each, getattr(self, each.name)) for each in fields(self))
        shown = (
            f"{_public(each)}={'***' if each.metadata.get('secret') else repr(value)}"
            for each, value in values
            if value != _default(each)
        )
        return mask(f"{type(self).__name__}({', '.join(shown)})")


def plain(value: object) -> Plain:
    """A value as JSON and YAML can hold it; any other type becomes its `str`."""
    if value is None or isinstance(value, bool):
        return value
    # Subclasses (enumerations, numpy's float64) become plain values.
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, (int, float)):
        return int(value) if isinstance(value, int) else float(value)
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if hasattr(value, "item"):  # a number of numpy or torch
        return plain(value.item())
    return str(value)


def camel(name: str) -> str:
    """The key of a Python name: `max_run_duration_seconds` is `maxRunDurationSeconds`."""
    first, *rest = name.strip("_").split("_")
    return first + "".join(part.capitalize() for part in rest)


def _key(each: Field) -> str:
    return camel(each.name)


def _public(each: Field) -> str:
    return each.name.lstrip("_")


def _default(each: Field) -> object:
    return each.default if each.default_factory is MISSING else each.default_factory()


def _copied(value: Plain, where: str) -> object:
    return copy.deepcopy(value)


def _expect(document: object, kind: type, where: str) -> None:
    if not isinstance(document, kind):
        from runyard.contracts.secrets import mask

        wanted = "a list" if kind is list else "settings by name"
        raise RunConfigurationException(mask(f"{where}: expected {wanted}, found {document!r}."))


def _no_such_attribute(kind: type[Configuration], name: str) -> str:
    import difflib

    known = sorted({_public(each) for each in fields(kind)})
    nearest = difflib.get_close_matches(name, known, 1, cutoff=0.5)
    advice = f"Did you mean {nearest[0]!r}?" if nearest else f"It has: {', '.join(known)}."
    return f"{kind.__name__} has no attribute {name!r}. {advice}"
