"""Markers that say what a test needs, set by what it uses, so that `make quick` can leave out what takes long.

cluster     a Ray or Slurm cluster, which the tests start
container   a Docker engine, which the tests start
framework   an environment with torch, TensorFlow, MPI or Ray in it (`tests.support.frameworks`)
slow        a story (`journeys`, `attacks`, `examples`), a server or a command for one test, PostgreSQL, or marked so
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support import frameworks

CLUSTER, CONTAINER, FRAMEWORK, SLOW = "cluster", "container", "framework", "slow"

BY_FIXTURE = {
    "ray_cluster": CLUSTER,
    "slurm_cluster": CLUSTER,
    "accounted_cluster": CLUSTER,
    "docker_engine": CONTAINER,
    "fresh_shell": SLOW,
    "gang": SLOW,
    "own_home": SLOW,
    "object_store": SLOW,
    "chromium": SLOW,
    "own_server": SLOW,
    "served": SLOW,
    "served_on_sqlite": SLOW,
    "shell": SLOW,
    "start": SLOW,
}
BY_GROUP = {
    "ray": CLUSTER,
    "slurm": CLUSTER,
    "slurm-accounting": CLUSTER,
    "slurm-apart": CLUSTER,
    "docker": CONTAINER,
}
"""Groups of pytest-xdist, for tests that ask for the fixture only while they run."""

STORIES = ("attacks", "examples", "journeys")
TESTS = Path(__file__).resolve().parents[1]


def pytest_configure(config: pytest.Config) -> None:
    for line in (__doc__ or "").split("\n\n", 1)[1].splitlines():
        name, _, meaning = line.partition(" ")
        config.addinivalue_line("markers", f"{name}: {meaning.strip()}")


@pytest.hookimpl(tryfirst=True)  # before `-m` chooses by them
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for name in sorted(set(_needs(item))):
            item.add_marker(name)


def _needs(item: pytest.Item) -> Iterator[str]:
    for fixture in getattr(item, "fixturenames", ()):
        if fixture in BY_FIXTURE:
            yield BY_FIXTURE[fixture]
    for group in item.iter_markers("xdist_group"):
        if group.args[0] in BY_GROUP:
            yield BY_GROUP[group.args[0]]
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    if any(isinstance(value, str) and value == "postgresql" for value in parameters.values()):
        yield SLOW
    if getattr(getattr(item, "module", None), "environment", None) is frameworks.environment:
        yield FRAMEWORK
    if any(item.path.is_relative_to(TESTS / story) for story in STORIES):
        yield SLOW
