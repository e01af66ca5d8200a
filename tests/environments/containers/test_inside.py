from __future__ import annotations

import pytest
from tests.environments.containers.conftest import Bench
from tests.support.docker_engine import BASE

from runyard.environments.containers import inside

pytestmark = pytest.mark.xdist_group("docker")


def test_the_python_of_an_image_is_found(bench: Bench) -> None:
    found = inside.look(bench.client, BASE, "python", lambda: None)
    assert found.python.startswith("/")
    assert found.version.count(".") == 2
    assert found.conda == ""


def test_a_python_that_the_image_does_not_hold_is_empty(bench: Bench) -> None:
    assert inside.look(bench.client, BASE, "python9.99", lambda: None) == inside.Inside()
