"""What is reported of a run that could not be started."""

from __future__ import annotations

from runyard.node.problem import RunProblem


def test_a_problem_becomes_the_error_of_the_run() -> None:
    assert RunProblem("NoScript", "There is no train.py.", "Look at the folder.").as_error() == {
        "code": "NoScript",
        "message": "There is no train.py.",
        "help": "Look at the folder.",
    }
    assert "help" not in RunProblem("NoScript", "There is no train.py.").as_error()
