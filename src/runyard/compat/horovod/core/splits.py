"""How many of a tensor's rows go to each rank."""

from __future__ import annotations

from typing import Iterable


def splits_of(shape: Iterable[int], wanted: Iterable[int] | None, ranks: int) -> tuple[int, ...]:
    """What was wanted, or as many to each.

    >>> splits_of((6, 2), None, 3), splits_of((6,), [1, 0, 5], 3)
    ((2, 2, 2), (1, 0, 5))
    """
    rows = next(iter(shape), 0)
    if wanted is None:
        if rows % ranks:
            raise ValueError(f"The first dimension, {rows}, cannot be split evenly among {ranks} ranks: give splits.")
        return (rows // ranks,) * ranks
    found = tuple(int(each) for each in wanted)
    if len(found) != ranks or sum(found) != rows or min(found) < 0:
        raise ValueError(
            f"splits must have a number of rows for each of {ranks} ranks, {rows} in all, not {list(found)}."
        )
    return found
