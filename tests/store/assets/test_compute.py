"""If these fail, a compute target is lost, or a run is sent to another one than its author named."""

from __future__ import annotations

from dataclasses import replace

import pytest

from runyard.contracts.compute import LOCAL, Target
from runyard.store.assets import compute
from runyard.store.content import deletion
from runyard.store.errors import Conflict, NotFound
from runyard.store.runs import workspaces
from runyard.store.store import Store

HPC = Target(name="hpc", engine="slurm", type="Slurm", options={"partition": "gpu"}, details={"tags": {"a": "b"}})


def create(store: Store, *targets: Target) -> None:
    with store.database.write() as connection:
        for target in targets:
            compute.create(connection, "local", target)


def found(store: Store, workspace: str = "local") -> list[str]:
    with store.database.read() as connection:
        return [target.name for target in compute.find(connection, workspace)]


def test_this_machine_is_there_without_being_made(store: Store) -> None:
    with store.database.read() as connection:
        assert compute.find(connection, "local") == [compute.THIS_MACHINE]
        assert compute.get(connection, "local", LOCAL) == compute.THIS_MACHINE
        with pytest.raises(NotFound, match="no workspace"):
            compute.find(connection, "nowhere")


def test_what_was_made_comes_back_as_it_was_by_name(store: Store) -> None:
    create(store, HPC, Target(name="a-cluster", max_nodes=4))
    assert found(store) == ["local", "a-cluster", "hpc"]
    with store.database.read() as connection:
        assert compute.get(connection, "local", "hpc") == HPC
        assert compute.look_up(connection, "local", "other") is None


def test_a_name_is_taken_once(store: Store) -> None:
    create(store, HPC)
    for taken in (HPC, Target(name=LOCAL, max_nodes=1)):
        with pytest.raises(Conflict) as refused:
            create(store, taken)
        assert refused.value.code == "compute_exists"


def test_changing_and_removing(store: Store) -> None:
    create(store, HPC)
    changed = replace(HPC, options={"partition": "cpu"}, max_nodes=3)
    with store.database.write() as connection:
        compute.replace(connection, "local", changed)
        assert compute.get(connection, "local", "hpc") == changed
        compute.remove(connection, "local", "hpc")
        with pytest.raises(NotFound, match="no compute target 'hpc' in the workspace 'local'"):
            compute.remove(connection, "local", "hpc")
        with pytest.raises(NotFound, match="It has: local"):
            compute.replace(connection, "local", HPC)
    assert found(store) == ["local"]


def test_targets_belong_to_a_workspace_and_go_with_it(store: Store) -> None:
    with store.database.write() as connection:
        workspaces.create(connection, "other", "s", "g")
        compute.create(connection, "other", HPC)
    assert (found(store), found(store, "other")) == (["local"], ["local", "hpc"])
    deletion.delete_workspace(store, "other")
    with store.database.write() as connection:
        workspaces.create(connection, "other", "s", "g")
    assert found(store, "other") == ["local"]
