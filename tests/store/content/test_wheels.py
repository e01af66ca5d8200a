"""If these fail, an environment that was registered with a private wheel cannot be built any more."""

from __future__ import annotations

from datetime import timedelta

import pytest

from runyard.store.content import deletion, sweeping, wheels
from runyard.store.content.deletion import Freed
from runyard.store.content.sweeping import Swept
from runyard.store.content.wheels import Wheel
from runyard.store.errors import Conflict, NotFound, Refused
from runyard.store.runs import workspaces
from runyard.store.store import Store

NAME = "mine-1.0-py3-none-any.whl"


def put(store: Store, content: bytes, name: str = NAME, workspace: str = "local", exist_ok: bool = False) -> Wheel:
    stored = store.objects.put([content])
    with store.database.write() as connection:
        return wheels.put(connection, workspace, name, stored, exist_ok)


def get(store: Store) -> Wheel:
    with store.database.read() as connection:
        return wheels.get(connection, "local", NAME)


def test_a_wheel_has_an_address_with_its_hash(store: Store) -> None:
    wheel = put(store, b"content")
    assert get(store) == wheel
    assert wheel.size == 7
    assert wheel.address == f"runyard://wheels/{wheel.digest}/{NAME}"


def test_a_name_is_taken_once_unless_told_otherwise(store: Store) -> None:
    first = put(store, b"one")
    with pytest.raises(Conflict) as caught:
        put(store, b"two")
    assert caught.value.code == "wheel_exists"
    second = put(store, b"two", exist_ok=True)
    assert get(store) == second
    assert put(store, b"one", exist_ok=True) == first
    assert get(store) == first
    with store.database.read() as connection:  # the address of the other still leads somewhere
        assert wheels.digests(connection, "local", [second.address]) == {second.digest}


def test_wheels_are_told_from_the_lines_of_an_environment(store: Store) -> None:
    mine = put(store, b"one")
    with store.database.write() as connection:
        workspaces.create(connection, "other", "s", "g")
    other = put(store, b"two", workspace="other")
    lines = ["numpy", mine.address, other.address, f"runyard://wheels/{'0' * 64}/x.whl"]
    with store.database.read() as connection:
        assert wheels.digests(connection, "local", lines) == {mine.digest}
        assert wheels.digests(connection, "local", ["numpy"]) == set()


@pytest.mark.parametrize(
    "name", ["", "mine.whl", "../mine-1.0-py3-none-any.whl", "mine-1.0.tar.gz", "m-1-a-b-c.whl.exe"]
)
def test_only_names_of_wheels_are_taken(store: Store, name: str) -> None:
    with pytest.raises(Refused):
        put(store, b"", name)


def test_a_wheel_survives_the_sweep_and_goes_with_its_workspace(store: Store) -> None:
    with store.database.write() as connection:
        workspaces.create(connection, "other", "s", "g")
    mine = put(store, b"shared")
    put(store, b"shared", workspace="other")
    put(store, b"alone", "alone-1.0-py3-none-any.whl", workspace="other")
    assert sweeping.sweep(store, timedelta(0)) == Swept()
    assert deletion.delete_workspace(store, "other") == Freed(objects=1, bytes_freed=5)
    assert store.objects.has(mine.digest)
    with store.database.read() as connection, pytest.raises(NotFound):
        wheels.get(connection, "local", "other-1.0-py3-none-any.whl")
