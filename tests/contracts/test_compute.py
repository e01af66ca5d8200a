"""Compute targets are stored and sent as dicts: what one version wrote, another must be able to read."""

from __future__ import annotations

from runyard.contracts.compute import LOW_PRIORITY, NODE_STATES, STEADY, Status, Target


def test_a_target_survives_its_dict() -> None:
    target = Target("gpu", "slurm", "Slurm", "", LOW_PRIORITY, 1, 4, 60, {"partition": "a"}, {"tags": {}}, "t", "u")
    assert Target.from_dict(target.as_dict()) == target
    assert target.low_priority
    assert not Target("cpu").low_priority


def test_a_target_of_another_version() -> None:
    read = Target.from_dict({"name": "old", "max_nodes": 2, "an_option_of_later": True})
    assert read == Target("old", max_nodes=2)
    assert (read.engine, read.idle_seconds, read.options) == ("local", 1800, {})


def test_the_defaults_of_one_target_are_not_those_of_another() -> None:
    one, other = Target("one"), Target("other")
    one.options["partition"] = "a"
    assert other.options == {}


def test_a_status_has_plain_values() -> None:
    counts = dict.fromkeys(NODE_STATES, 0)
    assert Status(counts=counts).as_dict() == {
        "allocation_state": STEADY,
        "current_nodes": 0,
        "target_nodes": 0,
        "counts": {"idle": 0, "preparing": 0, "running": 0, "leaving": 0, "unusable": 0, "preempted": 0},
        "errors": [],
        "changed_at": "",
    }
