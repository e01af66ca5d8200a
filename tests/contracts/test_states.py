"""Scripts for SDK v1 compare states as texts, and wait for the terminal ones."""

from __future__ import annotations

from runyard.contracts import states


def test_every_state_is_in_one_group() -> None:
    named = {value for name, value in vars(states).items() if name.isupper() and isinstance(value, str)}
    groups = [states.ACTIVE, states.POST_PROCESSING, states.TERMINAL]
    assert named == states.ALL
    assert sum(len(group) for group in groups) == len(states.ALL)


def test_the_ends_of_a_run() -> None:
    assert {"Completed", "Failed", "Canceled"} == states.TERMINAL
    assert {"CancelRequested", "Finalizing"} == states.POST_PROCESSING
