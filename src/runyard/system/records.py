"""Classes with declared fields, as `dataclasses` makes them, for what a command loads before it can do anything.

`import dataclasses` takes as long as a bare interpreter takes to start, and each class up to a millisecond, because all
its methods are compiled from text. Here only the constructor is, when it is first looked at. A record has the
constructor, comparison, hash and text of a dataclass, and is one to others: `dataclasses.fields`, `replace` and
`asdict` take it, and load their module when that happens. Annotations are text (`from __future__ import annotations`).
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Callable, Iterable, Mapping, TypeVar

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**options: Any) -> Callable[[Any], Any]:
        return lambda decorator: decorator


Made = TypeVar("Made")


class _Sign:
    """A value that stands for none."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


MISSING: Any = _Sign("MISSING")
_FACTORY: Any = _Sign("<factory>")
_NOTHING: Mapping[str, object] = {}
_UNFINISHED: list[type] = []  # records whose constructor nobody has looked at so far


class Field:
    """One field of a record."""

    __slots__ = ("compare", "default", "default_factory", "metadata", "name", "repr", "type")

    def __init__(self, default: Any, default_factory: Any, repr: bool, compare: bool, metadata: Any) -> None:
        self.name, self.type = "", ""
        self.default, self.default_factory = default, default_factory
        self.repr, self.compare, self.metadata = repr, compare, metadata

    @property
    def needed(self) -> bool:
        """Whether there is no record without a value for it."""
        return self.default is MISSING and self.default_factory is MISSING


def field(
    *,
    default: Any = MISSING,
    default_factory: Any = MISSING,
    repr: bool = True,
    compare: bool = True,
    metadata: Mapping[str, object] = _NOTHING,
) -> Any:
    """A field with more to say than its default, as `dataclasses.field` has it."""
    return Field(default, default_factory, repr, compare, metadata)


@dataclass_transform(field_specifiers=(field,))
def record(*, frozen: bool = False, init: bool = True, repr: bool = True) -> Callable[[type[Made]], type[Made]]:
    """Make a class a record. Fields of the records below it come first."""

    def made(kind: type[Made]) -> type[Made]:
        declared = _declared(kind)
        held: Any = kind
        held.__record_fields__ = declared
        held.__dataclass_fields__ = _AS_DATACLASS
        methods: dict[str, Any] = {"__eq__": _equal, "__match_args__": tuple(declared)}
        if init:
            methods["__init__"] = _Constructor(kind, declared)
            _UNFINISHED.append(kind)
        if repr:
            methods["__repr__"] = _text
        if frozen:
            methods.update(__setattr__=_refuse, __delattr__=_refuse)
        for name, method in methods.items():
            if name not in kind.__dict__:
                setattr(kind, name, method)
        if kind.__dict__.get("__hash__") is None:  # Python sets it so where a class has its own comparison
            held.__hash__ = _hash if frozen else None
        return kind

    return made


def finish_all() -> None:
    """Make the constructors of all records that are there. For a process that forks others: each of them would have to
    compile them again, which for a node runner is an eighth of what a short run costs."""
    while _UNFINISHED:
        getattr(_UNFINISHED.pop(), "__init__")  # noqa: B009 - to look at it is what makes it


def fields(kind: Any) -> Iterable[Field]:
    """The fields of a record or another dataclass, or of its class."""
    declared: dict[str, Field] | None = getattr(kind, "__record_fields__", None)
    return declared.values() if declared is not None else _foreign(kind)


def replace(record: Made, **changes: Any) -> Made:
    """Another record of the same kind, with some fields changed."""
    kept = {name: getattr(record, name) for name in _fields_of(record) if name not in changes}
    return type(record)(**kept, **changes)


def asdict(record: object) -> dict[str, Any]:
    """The fields by name; those of records in it as well. Lists and dictionaries are copied."""
    return {name: _plain(getattr(record, name)) for name in _fields_of(record)}


def _declared(kind: type) -> dict[str, Field]:
    declared: dict[str, Field] = {}
    for base in reversed(kind.__mro__[1:]):
        if "__dataclass_fields__" in base.__dict__ and "__record_fields__" not in base.__dict__:
            raise TypeError(f"{kind.__name__} cannot be a record: {base.__name__} is a dataclass and no record.")
        declared.update(base.__dict__.get("__record_fields__", {}))
    for name, annotation in _annotations(kind).items():
        if annotation.startswith(("ClassVar", "typing.ClassVar")):
            continue
        default = kind.__dict__.get(name, MISSING)
        if isinstance(default, Field):
            each = default
            if each.default is MISSING:
                delattr(kind, name)
            else:
                setattr(kind, name, each.default)
        else:
            each = Field(default, MISSING, True, True, _NOTHING)
        each.name, each.type = name, annotation
        declared[name] = each
    return declared


def _annotations(kind: type) -> Mapping[str, str]:
    """Those of the class itself."""
    if sys.version_info >= (3, 10):
        return kind.__annotations__
    return vars(kind).get("__annotations__", {})


class _Constructor:
    """Stands in for a constructor until it is looked at, by a call or by `inspect`."""

    def __init__(self, kind: type, declared: Mapping[str, Field]) -> None:
        self._kind, self._declared = kind, declared

    def __get__(self, record: object, kind: type) -> Any:
        made: Any = _constructor(self._kind, self._declared)
        type.__setattr__(self._kind, "__init__", made)
        return made.__get__(record, kind)


def _constructor(kind: type, declared: Mapping[str, Field]) -> Callable[..., None]:
    """Compiled from text, so that it is quick, refuses wrong calls as any function does, and can be inspected."""
    known: dict[str, Any] = {"FACTORY": _FACTORY}
    parameters, values = ["self"], []
    for number, (name, each) in enumerate(declared.items()):
        if each.needed:
            parameters.append(name)
        else:
            parameters.append(f"{name}=D{number}")
            known[f"D{number}"] = _FACTORY if each.default is MISSING else each.default
        if each.default_factory is not MISSING:
            known[f"F{number}"] = each.default_factory
            values.append(f"{name!r}: F{number}() if {name} is FACTORY else {name}")
        else:
            values.append(f"{name!r}: {name}")
    text = f"def __init__({', '.join(parameters)}):\n self.__dict__.update({{{', '.join(values)}}})"
    if hasattr(kind, "__post_init__"):
        text += "\n self.__post_init__()"
    exec(text, known)
    made: Callable[..., None] = known["__init__"]
    made.__annotations__ = {**{name: each.type for name, each in declared.items()}, "return": "None"}
    made.__qualname__, made.__module__ = f"{kind.__qualname__}.__init__", kind.__module__
    return made


def _equal(self: Any, other: object) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    return _compared(self) == _compared(other)


def _hash(self: Any) -> int:
    return hash(_compared(self))


def _compared(record: Any) -> tuple[object, ...]:
    return tuple([getattr(record, name) for name, each in record.__record_fields__.items() if each.compare])


def _text(self: Any) -> str:
    shown = (f"{name}={getattr(self, name)!r}" for name, each in self.__record_fields__.items() if each.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _refuse(self: Any, name: str, value: object = None) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"{type(self).__name__}.{name} is fixed once it is made.")


def _fields_of(record: object) -> dict[str, Field]:
    found: dict[str, Field] = type(record).__record_fields__  # type: ignore[attr-defined]
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(map(_plain, value))
    return asdict(value) if hasattr(type(value), "__record_fields__") else value


def _foreign(kind: Any) -> list[Field]:
    import dataclasses

    found = []
    for each in dataclasses.fields(kind):
        default, factory = (
            MISSING if value is dataclasses.MISSING else value for value in (each.default, each.default_factory)
        )
        found.append(Field(default, factory, each.repr, each.compare, each.metadata))
        found[-1].name, found[-1].type = each.name, str(each.type)
    return found


class _AsDataclass:
    """What `dataclasses` looks for in a class, made when it looks."""

    def __get__(self, record: object, kind: Any) -> dict[str, Any]:
        import dataclasses

        space: dict[str, Any] = {}
        for name, each in kind.__record_fields__.items():
            default = {} if each.default is MISSING else {"default": each.default}
            made = {} if each.default_factory is MISSING else {"default_factory": each.default_factory}
            space[name] = dataclasses.field(
                **default, **made, repr=each.repr, compare=each.compare, metadata=each.metadata
            )
        space["__annotations__"] = {name: each.type for name, each in kind.__record_fields__.items()}
        twin: Any = dataclasses.dataclass(type(kind.__name__, (), space))
        kind.__dataclass_fields__ = twin.__dataclass_fields__
        found: dict[str, Any] = kind.__dataclass_fields__
        return found


_AS_DATACLASS: Any = _AsDataclass()
