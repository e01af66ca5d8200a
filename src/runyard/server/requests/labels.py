"""Tags and properties as a query asks for them."""

from __future__ import annotations

from collections.abc import Iterable


def pairs(asked: Iterable[str]) -> list[tuple[str, str | None]]:
    """`key` asks for any value, `key=value` for that one.

    >>> pairs(["final", "lr=0.1"])
    [('final', None), ('lr', '0.1')]
    """
    found: list[tuple[str, str | None]] = []
    for each in asked:
        key, equals, value = each.partition("=")
        found.append((key, value if equals else None))
    return found
