"""Long lists in pieces that one statement can take: databases limit how many values it may name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

Item = TypeVar("Item")


def slices(items: Sequence[Item], length: int = 500) -> Iterator[Sequence[Item]]:
    return (items[start : start + length] for start in range(0, len(items), length))
