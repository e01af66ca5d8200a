"""A specification with horovod is built without it where no wheel can be had, and says so; with it where one can."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.support.wheels import wheel

from runyard.environments.builder import Order
from runyard.environments.problem import EnvironmentProblem

pytestmark = pytest.mark.slow

if TYPE_CHECKING:
    from tests.environments.conftest import Yard


def test_what_has_no_wheel_is_left_out_and_the_log_says_how_to_insist(yard: Yard) -> None:
    wheel(yard.links, "solo")
    built = yard.build("solo", "horovod[pytorch]==0.19.5")
    assert yard.installed() == {"solo-1.0"}
    assert built.layers == ["horovod[pytorch]==0.19.5"]
    said = "\n".join(yard.log)
    assert "horovod[pytorch]==0.19.5 is left out" in said
    assert "runyard config set environments.horovod require" in said


def test_a_line_of_conda_is_left_out_as_well(yard: Yard) -> None:
    assert yard.build(conda=("horovod=0.19",)).layers == ["horovod=0.19"]


def test_a_wheel_is_installed(yard: Yard) -> None:
    wheel(yard.links, "horovod", "0.28.1")
    assert yard.build("horovod").layers == []
    assert yard.installed() == {"horovod-0.28.1"}


def test_a_workspace_that_insists_gets_the_error(yard: Yard) -> None:
    wanted = yard.specification("horovod==0.19.5")
    with pytest.raises(EnvironmentProblem, match="horovod"):
        yard.make(Order(wanted, real_horovod=True))


def test_insisting_makes_another_environment(yard: Yard) -> None:
    asking, plain = yard.specification("horovod"), yard.specification("solo")
    assert asking.key() != asking.key(real_horovod=True)
    assert plain.key() == plain.key(real_horovod=True)
