"""The example of a sweep finds a good learning rate, and tells which."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.examples.conftest import Reader


def test_the_sweep_finds_a_good_one_and_stops_a_bad_one(reader: Reader) -> None:
    said = reader.starts("examples/sweep/submit.py")
    assert "stopped at interval" in said
    assert "8 children" in said
    accuracy = float(said.partition("Accuracy ")[2].split()[0])
    assert accuracy > 0.9
    assert (
        "Arguments ['--epochs', '12', '--batch-size', " in said or "Arguments ['--epochs', 12, '--batch-size', " in said
    )
