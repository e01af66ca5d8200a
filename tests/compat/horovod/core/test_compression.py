"""Half precision is for floating point numbers alone; what comes back has the type that it had."""

from __future__ import annotations

import array

from runyard.compat.horovod.core.compression import Compressor, NoneCompressor, choices


class Number:
    def __init__(self, dtype: str) -> None:
        self.dtype = dtype


HALF, COMPRESSION = choices(
    "of.a.framework", "float16", lambda dtype: dtype.startswith("float"), lambda tensor, dtype: Number(dtype)
)


def test_only_floating_point_numbers_are_made_smaller() -> None:
    small, context = HALF.compress(Number("float64"))
    assert (small.dtype, HALF.decompress(small, context).dtype) == ("float16", "float64")
    whole = Number("int64")
    small, context = HALF.compress(whole)
    assert small is whole
    assert HALF.decompress(small, context) is whole


def test_nothing_is_done_where_nothing_is_wanted() -> None:
    given = array.array("d", [1.0])
    assert NoneCompressor.decompress(*NoneCompressor.compress(given)) is given


def test_a_framework_has_both_under_horovods_names() -> None:
    assert (COMPRESSION.none, COMPRESSION.fp16) == (NoneCompressor, HALF)
    assert issubclass(HALF, Compressor)
    assert (HALF.__name__, HALF.__module__) == ("FP16Compressor", "of.a.framework")
