"""What goes to the server with one request: the new bytes of many sources, and who gets the answer to each."""

from __future__ import annotations

from typing import Callable

from runyard.contracts.delivery import PARTS_LIMIT, Part
from runyard.node.delivery.reporter import Answer

MOST_BYTES = 4_000_000


class Batch:
    """Sources add what they have, as far as there is room. The rest goes with the next one, which follows at once."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self.parts: list[Part] = []
        self.more = False  # something is left that could go, once this is answered
        self._left = most_bytes
        self._answered: list[Callable[[Answer], None]] = []

    def room(self, wanted: int) -> int:
        """How many of the `wanted` bytes a part may have."""
        if len(self.parts) >= PARTS_LIMIT:
            return 0
        return wanted if not self.parts else max(0, min(wanted, self._left))

    def add(self, part: Part, answered: Callable[[Answer], None]) -> None:
        """`answered` is called with the server's answer to it."""
        self.parts.append(part)
        self._left -= len(part.data)
        self._answered.append(answered)

    def take(self, answers: list[Answer]) -> None:
        """Hand each part's answer to its source."""
        for answered, answer in zip(self._answered, answers):
            answered(answer)
