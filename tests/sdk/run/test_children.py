"""Child runs, their metrics and filters, seen from their parent."""

from __future__ import annotations

from typing import Any

import pytest
from tests.sdk.run.interactive_run import begin

from runyard.sdk.exceptions import UserErrorException
from runyard.sdk.experiment import Experiment


def test_children(experiment: Experiment) -> None:
    run = begin(experiment, name="top")
    with run.child_run("kid") as child:
        child.log("a", 1)
        grandchild = child.child_run()
        grandchild.log("b", 2)
        grandchild.complete()
    assert child.name == "top>kid"
    assert child.parent == run
    assert child.get_status() == "Completed"
    made = run.create_children(tag_key="fold", tag_values=[1, 2])
    assert [each.get_tags() for each in made] == [{"fold": "1"}, {"fold": "2"}]
    assert made[0].get_status() == "NotStarted"
    made[0].start()
    assert made[0].get_status() == "Running"
    made[0].log("c", 3)
    made[0].complete()
    assert {each.id for each in run.get_children()} == {child.id, made[0].id, made[1].id}
    assert grandchild.id in {each.id for each in run.get_children(recursive=True)}
    assert [each.id for each in run.get_children(tags={"fold": "1"})] == [made[0].id]
    metrics = run.get_metrics(recursive=True)
    assert metrics == {child.id: {"a": 1}, grandchild.id: {"b": 2}, made[0].id: {"c": 3}}
    run.complete()
    assert [each.id for each in experiment.get_runs()] == [run.id]
    assert len(list(experiment.get_runs(include_children=True))) == 5


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"count": 0},
        {"count": 101},
        {"count": 1, "tag_key": "a", "tag_values": ["b"]},
        {"tag_key": "a"},
        {"count": True},
    ],
)
def test_children_in_numbers_that_make_no_sense(experiment: Experiment, options: dict[str, Any]) -> None:
    run = begin(experiment)
    with pytest.raises(UserErrorException):
        run.create_children(**options)
    run.complete()
