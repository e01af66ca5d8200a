"""A model's version has files of its own that outlive its run, and its number is never used again."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from tests.store.assets.conftest import keep

from runyard.contracts import states
from runyard.store.assets import datasets, model_content, models
from runyard.store.assets.models import Details, Model, ModelFilter
from runyard.store.content import deletion, shared, snapshots, sweeping, usage, verifying
from runyard.store.errors import Conflict, NotFound, Refused
from runyard.store.runs import runs, workspaces
from runyard.store.runs.records import Run
from runyard.store.store import Store

MakeRun = Callable[..., Run]


def register(
    store: Store, run_id: str, path: str, name: str = "m", request: str | None = None, **details: Any
) -> Model:
    with store.database.write() as connection:
        content = model_content.of_run(connection, run_id, path)
        return models.register(connection, "local", name, content, Details(**details), run_id, request)


def contents(store: Store) -> set[bytes]:
    return {found.path.read_bytes() for found in store.objects.walk()}


def found(store: Store, **wanted: Any) -> list[str]:
    with store.database.read() as connection:
        return [each.id for each in models.find(connection, "local", ModelFilter(**wanted), 100)[0]]


def test_a_folder_of_a_run_becomes_a_version_without_a_copy(store: Store, make_run: MakeRun) -> None:
    make_run("r")
    keep(store, "r", outputs__model__a=b"a", outputs__model__b__c=b"cc", outputs__models=b"no", outputs__log=b"no")
    before = contents(store)
    first = register(store, "r", "outputs/model/", tags={"k": "v"}, framework="Onnx", framework_version="1.3")
    assert (first.id, first.content.root, first.content.folder, first.content.files) == ("m:1", "model", True, 2)
    assert (first.content.size, first.run_id, first.experiment) == (3, "r", "exp")
    assert (first.details.framework, first.details.tags) == ("Onnx", {"k": "v"})
    second = register(store, "r", "outputs/models")
    assert (second.id, second.content.root, second.content.folder) == ("m:2", "models", False)
    assert second.details.framework == models.CUSTOM
    assert contents(store) == before
    with store.database.read() as connection:
        assert b'["model/b/c","file",' in snapshots.manifest_text(connection, first.content.tree)
        assert models.get(connection, "local", "m").id == "m:2"
        assert models.of_run(connection, "r") == [("m", 1), ("m", 2)]


def test_deleting_the_run_leaves_the_models_files_and_deleting_the_model_frees_them(
    store: Store, make_run: MakeRun
) -> None:
    make_run("r", status=states.COMPLETED)
    keep(store, "r", outputs__a=b"kept", outputs__b=b"not kept")
    model = register(store, "r", "outputs/a")
    twin = register(store, "r", "outputs/a", "twin")
    deletion.delete_runs(store, ["r"])
    assert contents(store) == {b"kept"}
    assert sweeping.sweep(store, timedelta(0), even_most=True).files_aside == 0
    with store.database.read() as connection:
        assert models.get(connection, "local", "m").run_id == "r", "its origin is still told"
        assert verifying.users(connection, store.objects.put([b"kept"]).digest) == ("the model m:1", "the model twin:1")
        assert [(each.name, each.versions, each.bytes) for each in usage.by_model(connection)] == [
            ("m", 1, 4),
            ("twin", 1, 4),
        ]
    store.objects.let_go([store.objects.put([b"kept"]).digest] * 3)
    assert models.remove(store, "local", "m", model.version).bytes_freed == 0
    assert contents(store) == {b"kept"}
    assert models.remove(store, "local", "twin", twin.version).bytes_freed == 4
    assert contents(store) == set()


def test_a_deleted_number_is_not_used_again(store: Store, make_run: MakeRun) -> None:
    make_run("r")
    keep(store, "r", a=b"1")
    register(store, "r", "a")
    register(store, "r", "a")
    models.remove(store, "local", "m", 2)
    assert found(store) == ["m:1"]
    assert register(store, "r", "a").id == "m:3"
    for version in (1, 3):
        models.remove(store, "local", "m", version)
    assert register(store, "r", "a").id == "m:4"


def test_a_workspace_that_goes_takes_its_models_with_it(store: Store, make_run: MakeRun) -> None:
    with store.database.write() as connection:
        workspaces.create(connection, "team", "s", "g")
    make_run("r", workspace="team", status=states.COMPLETED)
    keep(store, "r", a=b"gone")
    make_run("here")
    keep(store, "here", a=b"stays")
    register(store, "here", "a")
    with store.database.write() as connection:
        content = model_content.of_run(connection, "r", "a")
        models.register(connection, "team", "m", content, Details(), "r")
        digest = store.objects.put([b"gone"]).digest
        assert shared.held(connection, "team", [digest]) == {digest}
        assert shared.held(connection, "local", [digest]) == set()
        with pytest.raises(Refused, match="not in the workspace 'local'"):
            models.register(connection, "local", "m", content, Details(), "r")
    store.objects.let_go([digest])
    deletion.delete_workspace(store, "team")
    assert contents(store) == {b"stays"}


def test_names_and_what_is_said_have_their_rules(store: Store, make_run: MakeRun) -> None:
    make_run("r")
    keep(store, "r", a=b"1")
    for name in ("", "..", "a/b", "-a", "x" * 256, "x" * 100_000, "ü", "a b"):
        with pytest.raises(ValueError, match="is no name for a model: use 1 to 255"):
            register(store, "r", "a", name)
    assert register(store, "r", "a", "A.b-c_9").id == "A.b-c_9:1"
    with pytest.raises(Refused, match="1 to 255 characters"):
        register(store, "r", "a", tags={"": "x"})
    with pytest.raises(Refused, match="at most 10,000"):
        register(store, "r", "a", description="x" * 100_000)
    with pytest.raises(Refused, match="framework of a model"):
        register(store, "r", "a", framework="x" * 1000)
    with pytest.raises(NotFound, match="no dataset"):
        register(store, "r", "a", datasets=[{"name": "training", "id": "nowhere"}])
    assert found(store) == ["A.b-c_9:1"], "a refused one has taken no number"
    assert register(store, "r", "a").version == 1


def test_tags_change_and_properties_stay(store: Store, make_run: MakeRun) -> None:
    make_run("r")
    keep(store, "r", a=b"1")
    register(store, "r", "a", tags={"a": "1", "b": "2"}, properties={"p": "1"})
    with store.database.write() as connection:
        kept = datasets.save(connection, "local", {"kind": "file", "sources": [{"url": "http://h/a"}], "steps": []})
        reference = {"name": "training", "id": kept.id}

        def change(**more: Any) -> Details:
            return models.change(connection, "local", "m", 1, more.pop("values", {}), **more).details

        assert change(set_tags={"a": "3"}, remove_tags=["b"]).tags == {"a": "3"}
        assert change(values={"tags": {"c": "4"}}).tags == {"c": "4"}
        assert change(values={"description": "d"}, add_properties={"q": "2", "p": "1"}).properties == {
            "p": "1",
            "q": "2",
        }
        with pytest.raises(Conflict, match="property 'p' already"):
            change(add_properties={"p": "2"})
        assert change(add_datasets=[reference, reference]).datasets == [reference, reference]
        assert change(add_datasets=[reference]).datasets == [reference, reference]
        assert change().description == "d"


def test_models_are_found_by_what_is_said_of_them(store: Store, make_run: MakeRun) -> None:
    make_run("r")
    make_run("s")
    for run in ("r", "s"):
        keep(store, run, a=b"1")
    register(store, "r", "a", "first", tags={"k": "1"})
    register(store, "s", "a", "first", tags={"k": "2", "l": ""}, framework="Onnx")
    register(store, "s", "a", "other", properties={"p": "x"})
    assert found(store) == ["other:1", "first:2", "first:1"]
    assert found(store, latest=True) == ["other:1", "first:2"]
    assert found(store, name="first", latest=True) == ["first:2"]
    assert found(store, tags=[("k", None)]) == ["first:2", "first:1"]
    assert found(store, tags=[("k", "1")]) == ["first:1"]
    assert found(store, tags=[("k", "1")], latest=True) == []
    assert found(store, properties=[("p", "x")]) == found(store, run_id="s", framework="Custom") == ["other:1"]
    with store.database.read() as connection:
        page, following = models.find(connection, "local", ModelFilter(), 2)
        rest, end = models.find(connection, "local", ModelFilter(), 2, following)
        assert [each.id for each in page + rest] == found(store)
        assert end is None
        with pytest.raises(NotFound, match=r"no version 9 .* latest one is 2"):
            models.get(connection, "local", "first", 9)
        with pytest.raises(NotFound, match="There is 'first'"):
            models.get(connection, "local", "frist")


def test_a_repeated_request_registers_nothing(store: Store, make_run: MakeRun) -> None:
    make_run("r")
    keep(store, "r", a=b"1")
    assert register(store, "r", "a", request="x" * 16) == register(store, "r", "a", request="x" * 16)
    assert register(store, "r", "a", request="y" * 16).version == 2


def test_a_model_that_a_service_needs_stays(store: Store, make_run: MakeRun) -> None:
    make_run("r")
    keep(store, "r", a=b"1")
    register(store, "r", "a")
    register(store, "r", "a")

    def uses(service: str, *used: tuple[str, int]) -> None:
        with store.database.write() as connection:
            models.set_uses(connection, "local", service, used)

    uses("one", ("m", 1), ("m", 2), ("m", 2))
    uses("two", ("m", 1))
    with store.database.read() as connection:
        assert models.get(connection, "local", "m", 1).services == ["one", "two"]
    with pytest.raises(Conflict, match="in use by the services one, two"):
        models.remove(store, "local", "m", 1)
    uses("one", ("m", 2))
    uses("two")
    models.remove(store, "local", "m", 1)
    with pytest.raises(NotFound):
        uses("two", ("m", 1))


def test_content_that_is_gone_from_the_disk_is_not_registered_again(store: Store, make_run: MakeRun) -> None:
    make_run("r")
    keep(store, "r", a=b"1")
    model = register(store, "r", "a")
    with store.database.read() as connection:
        (digest,) = snapshots.digests(connection, model.content.tree)
    store.objects.path(digest).unlink()
    with pytest.raises(Conflict, match="not on the server"):
        register(store, "r", "a")
    assert found(store) == ["m:1"]
    with store.database.read() as connection:
        assert runs.get(connection, "r").id == "r"
