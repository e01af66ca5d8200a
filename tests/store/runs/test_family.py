"""Rights follow from who stands above a run: if these fail, a run rules over others, or not over its own."""

from __future__ import annotations

import pytest

from runyard.store.errors import Conflict
from runyard.store.runs import family, labels, runs
from runyard.store.runs.labels import SUBMITTED_FROM
from runyard.store.runs.records import NewRun
from runyard.store.store import Store


def make(store: Store, run_id: str, parent: str | None = None, by: str | None = None) -> None:
    properties: dict[str, str | None] = {SUBMITTED_FROM: by} if by is not None else {}
    with store.database.write() as connection:
        runs.create(connection, NewRun(run_id, "local", "trial", parent_id=parent, properties=properties))


def above(store: Store, run_id: str) -> list[str]:
    with store.database.read() as connection:
        return sorted(family.above(connection, run_id))


def test_parents_and_those_that_submitted_stand_above(store: Store) -> None:
    make(store, "top")
    make(store, "parent", parent="top")
    make(store, "own", parent="parent")
    make(store, "submitted", by="own")
    make(store, "below", parent="submitted")
    make(store, "sibling", parent="parent", by="own")  # a child that a run has made for its parent
    assert above(store, "own") == ["own", "parent", "top"]
    assert above(store, "below") == ["below", "own", "parent", "submitted", "top"]
    assert above(store, "sibling") == ["own", "parent", "sibling", "top"]
    assert above(store, "nowhere") == []
    with store.database.read() as connection:
        assert {each.id for each in family.led_from(connection, "own")} == {"submitted", "sibling"}
        assert {each.id for each in family.led_from(connection, "submitted")} == {"below"}
        assert family.origin(runs.get(connection, "sibling")) == "own"
        assert family.origin(runs.get(connection, "below")) == "submitted"


def test_children_are_counted_by_their_states(store: Store) -> None:
    make(store, "top")
    for name in ("one", "other"):
        make(store, name, parent="top")
    make(store, "below", parent="one")
    make(store, "alone")
    with store.database.read() as connection:
        found = family.children(connection, ["top", "one", "alone", "nowhere"])
        state = runs.get(connection, "one").status
    assert found == {"top": {state: 2}, "one": {state: 1}}


def test_a_ring_has_an_end(store: Store) -> None:
    make(store, "a", by="b")
    make(store, "b", by="a")
    make(store, "c", by="c")
    assert above(store, "a") == ["a", "b"]
    assert above(store, "c") == ["c"]


def test_the_property_is_set_when_a_run_is_made_or_never(store: Store) -> None:
    make(store, "a")
    with store.database.write() as connection:
        run = runs.serial_of(connection, "a")
        labels.add_properties(connection, run, {SUBMITTED_FROM: "b", "other": "1"}, keep_first=True)
        assert runs.get(connection, "a").properties == {"other": "1"}
        with pytest.raises(Conflict, match="set by the server alone"):
            labels.add_properties(connection, run, {SUBMITTED_FROM: "b"})
