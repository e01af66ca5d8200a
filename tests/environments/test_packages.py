from __future__ import annotations

from pathlib import Path

import pytest

from runyard.contracts.environment import Specification
from runyard.environments.builder import Order
from runyard.environments.packages import choose
from runyard.environments.problem import EnvironmentProblem


def test_uv_builds_what_pypi_has_and_conda_the_rest() -> None:
    assert choose(Specification(python="3.8", conda=("numpy=1.18", "pip"), pip=("torch",))).name == "uv"
    assert choose(Specification(conda=("pytorch",))).name == "conda"
    assert choose(Specification(pip=("torch",), channels=("nvidia",))).name == "conda"


def test_an_environment_of_conda_that_is_built_upon_is_refused(tmp_path: Path) -> None:
    given = Specification(base_conda_environment="mine", pip=("six",))
    with pytest.raises(EnvironmentProblem, match="'mine'") as caught:
        choose(given).build(Order(given), tmp_path)
    assert "interpreter_path" in caught.value.help
