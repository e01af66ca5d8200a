"""A batch takes what fits, and each part's answer goes to the source that it came from."""

from __future__ import annotations

from typing import Any

from runyard.contracts.delivery import PARTS_LIMIT, LogPart
from runyard.node.delivery.batch import Batch


def ignore(answer: Any) -> None:
    """The answer does not matter."""


def test_there_is_room_for_so_many_bytes() -> None:
    batch = Batch(most_bytes=10)
    batch.add(LogPart("a", 0, b"1234"), ignore)
    assert batch.room(3) == 3
    assert batch.room(100) == 6
    batch.add(LogPart("b", 0, b"123456"), ignore)
    assert batch.room(1) == 0


def test_the_first_part_may_be_larger_since_it_must_go_somehow() -> None:
    batch = Batch(most_bytes=10)
    assert batch.room(1000) == 1000
    batch.add(LogPart("a", 0, bytes(1000)), ignore)
    assert batch.room(1) == 0


def test_there_is_room_for_so_many_parts() -> None:
    batch = Batch()
    for number in range(PARTS_LIMIT):
        assert batch.room(1)
        batch.add(LogPart(str(number), 0, b""), ignore)
    assert not batch.room(1)


def test_each_answer_goes_to_its_source() -> None:
    batch, answers = Batch(), []
    batch.add(LogPart("a", 0, b"x"), lambda answer: answers.append(("a", answer)))
    batch.add(LogPart("b", 0, b"x"), lambda answer: answers.append(("b", answer)))
    batch.take([1, 2])
    assert answers == [("a", 1), ("b", 2)]
