from __future__ import annotations

import pytest

from runyard.environments.problem import EnvironmentProblem


def test_a_problem_has_a_code_a_message_and_help() -> None:
    with pytest.raises(EnvironmentProblem, match="uv is missing") as raised:
        raise EnvironmentProblem("UvNotFound", "uv is missing", "Install it.")
    problem = raised.value
    assert (problem.code, problem.message, problem.help) == ("UvNotFound", "uv is missing", "Install it.")
    assert EnvironmentProblem("Other", "message").help == ""
