"""If these fail, builds that were killed fill the machine with containers."""

from __future__ import annotations

import docker
import pytest
from tests.environments.containers.conftest import Bench
from tests.support.docker_engine import BASE

from runyard.environments.containers import steps
from runyard.environments.problem import EnvironmentProblem

pytestmark = pytest.mark.xdist_group("docker")


def test_a_step_tells_how_it_ended_and_leaves_no_container(bench: Bench) -> None:
    said: list[str] = []
    step = steps.run(bench.client, BASE, ["-c", "echo one; echo two >&2; exit 3"], said.append, lambda: None)
    assert (step.code, sorted(step.output)) == (3, ["one", "two"])
    assert step.output == said
    assert bench.containers() == []


def test_a_step_that_is_cancelled_leaves_no_container(bench: Bench) -> None:
    class Cancelled(Exception):
        pass

    def check() -> None:
        if said:
            raise Cancelled

    said: list[str] = []
    with pytest.raises(Cancelled):
        steps.run(bench.client, BASE, ["-c", "echo begun; sleep 600"], said.append, check)
    assert bench.containers() == []


def test_what_a_dead_builder_left_is_swept_and_what_a_living_one_uses_is_not(bench: Bench) -> None:
    with steps.container(bench.client, BASE, ["-c", "true"]) as living:
        host = str(living.name).split(".")[1]
        bench.client.containers.create(BASE, ["/bin/sh"], name=f"runyard-build.{host}.4194303.gone-by.0badcafe")
        elsewhere = bench.client.containers.create(BASE, ["/bin/sh"], name="runyard-build.other.4194303.gone.0badcafe")
        steps.sweep(bench.client)
        assert sorted(bench.containers()) == sorted([str(living.name), str(elsewhere.name)])
        elsewhere.remove(force=True)


def test_a_shell_that_is_missing_is_named() -> None:
    error = docker.errors.APIError("refused", explanation='exec: "/bin/sh": no such file or directory')
    problem = steps._not_started("scratch:1", error)
    assert isinstance(problem, EnvironmentProblem)
    assert problem.code == "ImageWithoutShell"
