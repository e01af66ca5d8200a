"""Lists and tables take what a training loop has at hand, and refuse what a metric cannot hold."""

from __future__ import annotations

import numpy
import pytest

from runyard.sdk.exceptions import AzureMLException
from runyard.sdk.scalars import Scalar, scalars


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ([1, 2], [1, 2]),
        ([1, 2.5, True, None, "a"], [1.0, 2.5, True, None, "a"]),
        (numpy.array([1, 2]), [1, 2]),
        ((x for x in (1, 2)), [1, 2]),
        ([numpy.float32(0.5), 1], [0.5, 1.0]),
        ([], []),
    ],
)
def test_items_become_plain_values(given: object, kept: list[Scalar]) -> None:
    items, strange = scalars("m", given)
    assert items == kept
    assert [type(item) for item in items] == [type(item) for item in kept]
    assert strange == []


def test_strange_items_become_text() -> None:
    items, strange = scalars("m", [b"x"])
    assert (items, strange) == (["b'x'"], [b"x"])


@pytest.mark.parametrize("given", ["abc", None, 3, {"a": 1}, [[1]], [{"a": 1}]])
def test_what_is_no_list_of_values_is_refused(given: object) -> None:
    with pytest.raises(AzureMLException):
        scalars("m", given)
