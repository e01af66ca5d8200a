"""Half precision is for floating point numbers alone; what comes back has the type that it had."""

from __future__ import annotations

import array
from typing import Any

from runyard.compat.horovod.core.compression import HalfCompressor, NoneCompressor


class Number:
    def __init__(self, dtype: str) -> None:
        self.dtype = dtype


class Half(HalfCompressor):
    half = "float16"

    @staticmethod
    def floating(dtype: Any) -> bool:
        return str(dtype).startswith("float")

    @staticmethod
    def cast(tensor: Any, dtype: Any) -> Number:
        return Number(dtype)


def test_only_floating_point_numbers_are_made_smaller() -> None:
    small, context = Half.compress(Number("float64"))
    assert (small.dtype, Half.decompress(small, context).dtype) == ("float16", "float64")
    whole = Number("int64")
    small, context = Half.compress(whole)
    assert small is whole
    assert Half.decompress(small, context) is whole


def test_nothing_is_done_where_nothing_is_wanted() -> None:
    given = array.array("d", [1.0])
    assert NoneCompressor.decompress(*NoneCompressor.compress(given)) is given
