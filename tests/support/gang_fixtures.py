"""The fixture `gangs`: a yard with the cluster of one engine, for all stories of a module (it is slow to start)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from tests.journeys.conftest import closing
from tests.support.gang_places import OnRay, OnSlurm, Place, ThisMachine
from tests.support.gang_yard import GangYard

if TYPE_CHECKING:
    from pathlib import Path


ENGINES = {
    "local": pytest.param("local", marks=pytest.mark.xdist_group("gangs-local")),
    "ray": pytest.param("ray", marks=pytest.mark.xdist_group("ray")),
    "slurm": pytest.param("slurm", marks=pytest.mark.xdist_group("slurm")),
}
"""The groups are those of the engines' own tests: one worker has the cluster, and the machine is not flooded."""


@pytest.fixture(scope="module", params=ENGINES.values())
def cluster_yard(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[GangYard]:
    """A yard with a target on the engine, for a whole module."""
    with yard_on(_place(request), tmp_path_factory.mktemp(f"gangs-{request.param}")) as yard:
        yield yard


@pytest.fixture
def gangs(cluster_yard: GangYard, monkeypatch: pytest.MonkeyPatch) -> Iterator[GangYard]:
    """The yard of the module, with nothing left of the test afterwards."""
    monkeypatch.chdir(cluster_yard.folder)
    cluster_yard.submitted.clear()
    with monkeypatch.context() as outside:
        outside.delenv("RUNYARD_HOME")  # nodes that are started now do not belong to the yard
        cluster_yard.place.heal()
    yield cluster_yard
    cluster_yard.nothing_left()


def _place(request: pytest.FixtureRequest) -> Place:
    if request.param == "ray":
        return OnRay(request.getfixturevalue("ray_cluster"))
    if request.param == "slurm":
        return OnSlurm(request.getfixturevalue("slurm_cluster"))
    return ThisMachine()


@contextmanager
def yard_on(place: Place, folder: Path) -> Iterator[GangYard]:
    """A yard with a target on a place, with a server of its own."""
    home, projects = folder / "home", folder / "projects"
    home.mkdir(mode=0o700)
    projects.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RUNYARD_HOME", str(home))
        patch.setenv("RUNYARD_GRACE_SECONDS", "2")
        with closing(GangYard(home, projects, place)) as yard:
            place.make(yard.workspace)
            yield yard
