from __future__ import annotations

import pytest

from runyard.environments.problem import EnvironmentProblem
from runyard.environments.python.pin import parse


@pytest.mark.parametrize(
    ("pin", "fits", "misses"),
    [
        ("3.8", (3, 8, 18), (3, 80, 0)),
        ("3.8.*", (3, 8, 0), (3, 9, 0)),
        ("==3.8", (3, 8, 5), (3, 9, 0)),
        ("3.6.2", (3, 6, 2), (3, 6, 15)),
        ("3.6.2=h0b30769_3", (3, 6, 2), (3, 6, 3)),
        (">=3.8,<3.11", (3, 10, 9), (3, 11, 0)),
        (">3.8", (3, 8, 1), (3, 8, 0)),
        ("<=3.9.5", (3, 9, 5), (3, 9, 6)),
        ("~=3.8", (3, 12, 0), (3, 7, 9)),
        ("~=3.8.2", (3, 8, 9), (3, 9, 0)),
        ("3.8|3.10", (3, 10, 1), (3, 9, 1)),
        (">=3,!=3.9", (3, 10, 0), (3, 9, 7)),
    ],
)
def test_what_a_pin_allows(pin: str, fits: tuple[int, int, int], misses: tuple[int, int, int]) -> None:
    assert parse(pin).allows(fits)
    assert not parse(pin).allows(misses)


@pytest.mark.parametrize("pin", ["three", "3.x", "3.8,", ">=", "3.8.1.2"])
def test_what_is_no_version_is_refused_by_name(pin: str) -> None:
    with pytest.raises(EnvironmentProblem, match="python=") as caught:
        parse(pin)
    assert caught.value.code == "PythonPinInvalid"


def test_the_highest_is_wanted_only_where_the_minor_version_is_open() -> None:
    assert [parse(pin).is_range for pin in ("3.8", "3.8.1", ">=3.8", "3", "3.8|3.9")] == [
        False,
        False,
        True,
        True,
        True,
    ]


def test_the_words_for_uv() -> None:
    assert parse("3.8").request == "3.8"
    assert parse(">=3.8,<3.11").request == ">=3.8,<3.11"
