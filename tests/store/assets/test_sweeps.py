"""Sweeps in the store: what a killed server needs to go on is there, on either kind of database."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from runyard.contracts.journal import line
from runyard.contracts.sweeps.sweep import Sweep
from runyard.store.assets import sweeps
from runyard.store.content import deletion
from runyard.store.errors import NotFound
from runyard.store.metrics import journals
from runyard.store.runs import runs
from runyard.store.runs.records import SWEEP, Run
from runyard.store.store import Store

MakeRun = Callable[..., Run]
ASKED = Sweep({"name": "GRID", "parameter_space": {"a": ["choice", [[1, 2]]]}}, "loss", "minimize", 2, 1)


def test_a_sweep_its_trials_and_what_they_came_to(store: Store, make_run: MakeRun) -> None:
    make_run("HD_1", kind=SWEEP)
    with store.database.write() as connection:
        sweeps.create(connection, "HD_1", ASKED, {"p": "q"})
        sweeps.add_trials(connection, "HD_1", {0: {"a": 1}, 1: {"a": 2}})
    make_run("HD_1_0", parent_id="HD_1", status="Completed")
    with store.database.write() as connection:
        sweeps.set_results(connection, "HD_1", {0: (-0.5, 3)})
        sweeps.set_verdict(connection, "HD_1", 1, "stopped ☃")
        stored = sweeps.get(connection, "HD_1")
        first, second = sweeps.find_trials(connection, "HD_1")
    assert (stored.sweep, stored.child_properties) == (ASKED, {"p": "q"})
    assert (first.status, first.best, first.intervals, first.ended) == ("Completed", -0.5, 3, True)
    assert (second.parameters, second.verdict, second.status, second.ended) == ({"a": 2}, "stopped ☃", None, True)
    deletion.delete_runs(store, ["HD_1_0"])
    with store.database.read() as connection:
        assert [each.status for each in sweeps.find_trials(connection, "HD_1")] == [None, None]


def test_a_run_that_is_no_sweep(store: Store, make_run: MakeRun) -> None:
    make_run("plain")
    with store.database.read() as connection, pytest.raises(NotFound, match="is no sweep"):
        sweeps.get(connection, "plain")


def test_the_curve_of_a_run_has_what_is_staged_and_how_far_each_journal_is(store: Store, make_run: MakeRun) -> None:
    make_run("HD_1", kind=SWEEP)
    make_run("r", parent_id="HD_1")
    first = line("v", "loss", 0.5, 1.0, None) + line("v", "other", 1, 1.0, None)
    later = line("v", "loss", {"f": "nan"}, 2.0, None)
    with store.database.write() as connection:
        serial = runs.serial_of(connection, "r")
        journals.accept_many(connection, [journals.incoming(serial, "w", 0, first)])
        journals.accept_many(connection, [journals.incoming(serial, "w", len(first), later)])
        found = sweeps.curve(connection, "r", "loss")
        nothing = sweeps.curve(connection, "r", "accuracy")
        names = sweeps.metric_names(connection, "HD_1")
    assert (found.values[0], math.isnan(found.values[1]), len(found.values)) == (0.5, True, 2)
    assert found.offsets == nothing.offsets == {"w": len(first) + len(later)}
    assert (nothing.values, names) == ([], ["loss", "other"])


def test_a_sweep_that_may_have_more(store: Store, make_run: MakeRun) -> None:
    make_run("HD_1", kind=SWEEP)
    with store.database.write() as connection:
        sweeps.create(connection, "HD_1", ASKED, {})
        before = sweeps.get(connection, "HD_1")
        sweeps.change(connection, "HD_1", Sweep.from_dict({**ASKED.as_dict(), "runs": 9}))
        after = sweeps.get(connection, "HD_1")
    assert (after.sweep.runs, after.began_at >= before.began_at) == (9, True)
