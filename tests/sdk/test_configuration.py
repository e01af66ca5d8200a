from __future__ import annotations

import copy
import json

import numpy
import pytest

from runyard.sdk.configuration import Configuration, camel, list_of, of, plain
from runyard.sdk.exceptions import RunConfigurationException
from runyard.system.records import field, record


@record(repr=False)
class Wheel(Configuration):
    tyre_width: int = 20


@record(repr=False)
class Car(Configuration):
    wheel_list: list[Wheel] = field(default_factory=list, metadata=list_of(Wheel))
    spare: Wheel | None = field(default=None, metadata=of(Wheel))
    colours: list[str] = field(default_factory=lambda: ["red"])


def test_keys_are_camel_case() -> None:
    assert Car([Wheel(3)]).to_dict() == {"wheelList": [{"tyreWidth": 3}], "spare": None, "colours": ["red"]}
    assert camel("_max_run_duration_seconds") == "maxRunDurationSeconds"


def test_both_spellings_are_read() -> None:
    assert Car.from_dict({"wheel_list": [{"tyre_width": 3}]}) == Car.from_dict({"wheelList": [{"tyreWidth": 3}]})


def test_an_empty_value_means_the_default() -> None:
    assert Car.from_dict({"colours": None}) == Car()


def test_unknown_keys_are_warned_of_with_their_place() -> None:
    with pytest.warns(UserWarning, match=r"train\.yml\.spare.*'colour'"):
        Car.from_dict({"spare": {"colour": 1}}, "train.yml")


def test_a_value_of_the_wrong_form_is_refused_with_its_place() -> None:
    with pytest.raises(RunConfigurationException, match=r"Car\.wheelList\[0\]: expected settings by name"):
        Car.from_dict({"wheelList": ["round"]})


def test_a_misspelt_attribute_is_refused_and_the_nearest_named() -> None:
    car = Car()
    with pytest.raises(AttributeError, match="Did you mean 'colours'"):
        car.colors = ["blue"]  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="It has: colours, spare, wheel_list"):
        car.xyz = 1  # type: ignore[attr-defined]


def test_an_open_class_takes_any_attribute() -> None:
    @record(repr=False)
    class Trailer(Configuration):
        _open = True

        length: int = 1

    trailer = Trailer()
    trailer.anything = 5  # type: ignore[attr-defined]
    assert trailer.to_dict() == {"length": 1}


def test_equal_by_value_and_copies_stand_alone() -> None:
    car = Car([Wheel(3)])
    twin = copy.deepcopy(car)
    assert twin == car
    twin.wheel_list[0].tyre_width = 4
    assert twin != car
    assert Car().colours is not Car().colours


def test_repr_tells_only_what_was_changed() -> None:
    assert repr(Car()) == "Car()"
    assert repr(Car(spare=Wheel(3))) == "Car(spare=Wheel(tyre_width=3))"


def test_what_is_read_does_not_hang_on_its_source() -> None:
    document = {"colours": ["green"]}
    car = Car.from_dict(document)
    document["colours"].append("blue")
    assert car.colours == ["green"]


def test_plain_values_fit_json() -> None:
    class Odd:
        def __str__(self) -> str:
            return "odd"

    document = plain([numpy.float64(0.5), numpy.int64(3), (1, True, None), {"a": Odd()}])
    assert document == [0.5, 3, [1, True, None], {"a": "odd"}]
    assert [type(each) for each in document[:2]] == [float, int]
    assert json.loads(json.dumps(document)) == document
