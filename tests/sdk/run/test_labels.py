"""Tags change and properties do not, from inside a run and from outside."""

from __future__ import annotations

import pytest
from tests.sdk.run.interactive_run import begin

from runyard.sdk.exceptions import UserErrorException
from runyard.sdk.experiment import Experiment
from runyard.sdk.run.run import get_run


def test_tags_and_properties(experiment: Experiment, caplog: pytest.LogCaptureFixture) -> None:
    run = begin(experiment, tags={"from": "start"})
    run.tag("a", 1)
    run.tag("b")
    run.set_tags({"c": "3"})
    run.remove_tags(["c"])
    run.add_properties({"p": "1"})
    assert run.get_tags() == {"from": "start", "a": "1", "b": None}
    run.add_properties({"p": "2"})
    assert run.get_properties() == {"p": "1"}
    assert "The property 'p' stays '1'" in caplog.text
    assert "The tag 'a' has a value of the type int" in caplog.text
    run.complete()
    outside = get_run(experiment, run.id)
    outside.tag("d", "4")
    assert outside.remove_tags("a") == {"from": "start", "b": None, "d": "4"}
    with pytest.raises(UserErrorException):
        outside.add_properties({"p": "2"})
    assert [found.id for found in experiment.get_runs(tags={"d": "4"})] == [run.id]
