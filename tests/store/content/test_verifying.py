from __future__ import annotations

from collections.abc import Callable

from runyard.contracts.manifest import Entry, make
from runyard.store.content import files, snapshots, verifying, wheels
from runyard.store.content.verifying import Damage
from runyard.store.runs.records import Run
from runyard.store.store import Store

MakeRun = Callable[..., Run]


def test_every_kind_of_damage_is_found_with_those_who_need_the_object(store: Store, make_run: MakeRun) -> None:
    stored = {
        name: store.objects.put([name.encode() * 100]) for name in ("good", "emptied", "halved", "flipped", "gone")
    }
    code = make([Entry("a.py", digest=stored["flipped"].digest, size=stored["flipped"].size)])
    with store.database.write() as connection:
        snapshots.create(connection, code)
        wheels.put(connection, "local", "mine-1.0-py3-none-any.whl", stored["gone"])
    make_run("r", snapshot_id=code.id)
    with store.database.write() as connection:
        for name in ("good", "emptied", "halved"):
            files.put(connection, "r", f"outputs/{name}", stored[name])
    place = {name: store.objects.path(each.digest) for name, each in stored.items()}
    place["emptied"].write_bytes(b"")
    place["halved"].write_bytes(place["halved"].read_bytes()[:300])
    place["flipped"].write_bytes(b"F" + place["flipped"].read_bytes()[1:])
    place["gone"].unlink()

    read: list[int] = []
    found = {damage.digest: damage.problem for damage in verifying.damaged(store.objects, read.append)}
    assert set(found) == {stored[name].digest for name in ("emptied", "halved", "flipped")}
    assert "has 300 bytes" in found[stored["halved"].digest]
    assert sum(read) == 400 + 0 + 300 + 700
    assert verifying.missing(store.objects, store.database) == [Damage(stored["gone"].digest, "is not there")]
    with store.database.read() as connection:
        needed = {name: verifying.users(connection, each.digest) for name, each in stored.items()}
    assert needed["halved"] == ("outputs/halved of run r",)
    assert needed["flipped"] == ("the snapshot of run r",)
    assert needed["gone"] == ("the wheel mine-1.0-py3-none-any.whl",)


def test_what_waits_to_be_removed_is_not_missing(store: Store, make_run: MakeRun) -> None:
    """It comes back when it is asked for."""
    make_run("r")
    stored = store.objects.put([b"named"])
    with store.database.write() as connection:
        files.put(connection, "r", "a", stored)
    store.objects.set_aside(stored.digest)
    assert verifying.missing(store.objects, store.database) == []
    assert store.objects.aside.waiting(), "looking changes nothing"
