"""Lists and tables take what a training loop has at hand, and refuse what a metric cannot hold."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy
import pytest

from runyard.sdk.exceptions import AzureMLException
from runyard.sdk.telemetry.scalars import Scalar, scalars


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ([1, 2], [1, 2]),
        ([1, 2.5, True, None, "a"], [1.0, 2.5, True, None, "a"]),
        (numpy.array([1, 2]), [1, 2]),
        ((x for x in (1, 2)), [1, 2]),
        ([numpy.float32(0.5), 1], [0.5, 1.0]),
        ([Decimal("0.25"), Fraction(1, 2)], [0.25, 0.5]),
        ([], []),
    ],
)
def test_items_become_plain_values(given: object, stored: list[Scalar]) -> None:
    items, strange = scalars("m", given)
    assert items == stored
    assert [type(item) for item in items] == [type(item) for item in stored]
    assert strange == []


def test_strange_items_become_text() -> None:
    items, strange = scalars("m", [b"x"])
    assert (items, strange) == (["b'x'"], [b"x"])


def test_numbers_that_no_float_holds_become_text() -> None:
    items, strange = scalars("m", [Fraction(10**400), Decimal("sNaN")])
    assert items == [f"Fraction({10**400}, 1)", "Decimal('sNaN')"]
    assert len(strange) == 2


@pytest.mark.parametrize("given", ["abc", None, 3, {"a": 1}, [[1]], [{"a": 1}]])
def test_what_is_no_list_of_values_is_refused(given: object) -> None:
    with pytest.raises(AzureMLException):
        scalars("m", given)
