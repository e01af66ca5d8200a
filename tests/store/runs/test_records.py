from __future__ import annotations

from dataclasses import replace

import pytest

from runyard.contracts import states
from runyard.store.runs.records import SCRIPT, NewRun, Run


@pytest.fixture
def run(make_run: object) -> Run:
    return make_run("r", status=states.QUEUED)  # type: ignore[operator, no-any-return]


def test_a_new_run_is_a_script_on_one_local_node() -> None:
    new = NewRun("r", "local", "exp")
    assert (new.kind, new.target, new.nodes, new.status) == (SCRIPT, "local", 1, states.NOT_STARTED)


def test_what_a_record_says_of_its_run(run: Run) -> None:
    assert not run.led
    assert replace(run, kind="interactive").led
    assert replace(run, kind="child").led
    assert not run.ended
    assert replace(run, status=states.FAILED).ended


def test_a_run_is_between_attempts_while_it_is_queued_to_start_again(run: Run) -> None:
    assert not run.between_attempts
    assert replace(run, restart="its nodes were taken away").between_attempts
    assert not replace(run, restart="its nodes were taken away", status=states.RUNNING).between_attempts
