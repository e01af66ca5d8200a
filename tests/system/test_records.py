"""Records beside dataclasses: whoever reads, compares or copies one must not notice the difference."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import subprocess
import sys
from typing import Any, ClassVar

import pytest

from runyard.system import records
from runyard.system.records import field, record


@record(frozen=True)
class Point:
    x: int
    y: int = 0
    KIND: ClassVar[str] = "point"


@dataclasses.dataclass(frozen=True)
class TwinPoint:
    x: int
    y: int = 0
    KIND: ClassVar[str] = "point"


@record()
class Line:
    name: str
    points: list[Point] = field(default_factory=list)
    secret: str = field(default="", repr=False)
    seen: int = field(default=0, compare=False)


@dataclasses.dataclass
class TwinLine:
    name: str
    points: list[TwinPoint] = dataclasses.field(default_factory=list)
    secret: str = dataclasses.field(default="", repr=False)
    seen: int = dataclasses.field(default=0, compare=False)


@record(frozen=True)
class Solid(Point):
    z: int = 0

    def __post_init__(self) -> None:
        if self.z < 0:
            raise ValueError("below")


CALLS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((1,), {}),
    ((1, 2), {}),
    ((), {"y": 2, "x": 1}),
    ((), {}),
    ((1, 2, 3), {}),
    ((1,), {"x": 1}),
    ((1,), {"z": 1}),
]


@pytest.mark.parametrize(("given", "named"), CALLS)
def test_the_constructor_takes_and_refuses_what_that_of_a_dataclass_does(
    given: tuple[Any, ...], named: dict[str, Any]
) -> None:
    assert _outcome(Point, given, named) == _outcome(TwinPoint, given, named)


def _outcome(kind: Any, given: tuple[Any, ...], named: dict[str, Any]) -> str:
    try:
        return repr(kind(*given, **named)).replace("Twin", "")
    except TypeError as error:
        return str(error).replace("Twin", "")


def test_values_are_compared_hashed_and_shown_like_those_of_a_dataclass() -> None:
    assert Point(1, 2) == Point(1, 2) != Point(2, 1)
    assert Point(1) != TwinPoint(1)  # type: ignore[comparison-overlap]
    assert Point(1) != Solid(1)
    assert {Point(1): "found"}[Point(1)] == "found"
    assert Line("a", seen=1) == Line("a", seen=2)
    assert Line("a", secret="s") != Line("a")
    assert repr(Line("a", [Point(1)], "hidden")) == repr(TwinLine("a", [TwinPoint(1)], "hidden")).replace("Twin", "")
    with pytest.raises(TypeError, match="unhashable"):
        hash(Line("a"))


def test_defaults_that_are_made_belong_to_one_record_each() -> None:
    first, second = Line("first"), Line("second")
    first.points.append(Point(1))
    assert second.points == []


def test_a_frozen_record_cannot_be_changed() -> None:
    point = Point(1)
    for name in ("x", "new"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(point, name, 2)
    with pytest.raises(dataclasses.FrozenInstanceError):
        del point.x
    assert point == Point(1)


def test_a_record_inherits_the_fields_of_another() -> None:
    assert repr(Solid(1, 2, 3)) == "Solid(x=1, y=2, z=3)"
    with pytest.raises(ValueError, match="below"):
        Solid(1, z=-1)
    with pytest.raises(TypeError, match="no record"):
        record()(type("Mixed", (TwinLine,), {}))


def test_the_functions_of_dataclasses_take_records() -> None:
    line = Line("a", [Point(1)])
    assert dataclasses.is_dataclass(line)
    assert [each.name for each in dataclasses.fields(line)] == ["name", "points", "secret", "seen"]
    assert dataclasses.asdict(line) == records.asdict(line)
    assert dataclasses.replace(line, name="b") == records.replace(line, name="b") == Line("b", [Point(1)])


def test_copies_share_nothing_that_can_be_changed() -> None:
    line = Line("a", [Point(1)])
    as_document = records.asdict(line)
    assert as_document == {"name": "a", "points": [{"x": 1, "y": 0}], "secret": "", "seen": 0}
    as_document["points"].append(1)
    twin = copy.deepcopy(line)
    twin.points.append(Point(2))
    assert line.points == [Point(1)]
    assert pickle.loads(pickle.dumps(line)) == line
    with pytest.raises(TypeError, match="colour"):
        records.replace(line, colour="red")


def test_fields_tell_of_records_and_of_dataclasses_alike() -> None:
    def told(kind: Any) -> list[tuple[str, str, bool]]:
        return [(each.name, each.type.replace("Twin", ""), each.needed) for each in records.fields(kind)]

    assert told(Line) == told(TwinLine)
    assert told(Line)[:2] == [("name", "str", True), ("points", "list[Point]", False)]


def test_constructors_can_be_made_ahead_and_once() -> None:
    @records.record()
    class Late:
        number: int = 3

    records.finish_all()
    made = Late.__dict__["__init__"]
    assert callable(made)
    assert Late().number == 3
    records.finish_all()
    assert Late.__dict__["__init__"] is made


def test_the_constructor_can_be_inspected() -> None:
    assert list(inspect.signature(Line).parameters) == ["name", "points", "secret", "seen"]
    assert str(inspect.signature(Point)).replace("'", "") == str(inspect.signature(TwinPoint)).replace("'", "")


@pytest.mark.parametrize("module", ["runyard.cli.commands.runs", "runyard.cli.api", "runyard.sdk.submit.submit"])
def test_what_a_command_loads_does_not_load_dataclasses(module: str) -> None:
    """It takes as long as starting Python."""
    asked = f"import sys, runyard.cli.main, {module}; print(sys.modules.keys() & {{'dataclasses', 'inspect'}})"
    done = subprocess.run(
        [sys.executable, "-S", "-c", asked], capture_output=True, text=True, check=False, env=_plain()
    )
    assert done.stdout.strip() == "set()", done.stderr


def _plain() -> dict[str, str]:
    """Without what the tests load into every Python, such as the measuring of coverage."""
    from pathlib import Path

    import runyard

    return {"PYTHONPATH": str(Path(runyard.__file__).parent.parent)}
