"""What becomes a model: files of a run under their last component, or a snapshot with one entry at its top."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.store.assets.conftest import keep

from runyard.contracts.manifest import LINK, Entry, make
from runyard.store.assets import model_content
from runyard.store.assets.model_content import Content
from runyard.store.content import files, snapshots
from runyard.store.errors import NotFound, Refused
from runyard.store.runs.records import Run
from runyard.store.store import Store

MakeRun = Callable[..., Run]


def of_run(store: Store, run_id: str, path: str) -> Content:
    with store.database.write() as connection:
        return model_content.of_run(connection, run_id, path)


def sent(store: Store, *entries: Entry, **content: bytes) -> str:
    stored = {name.replace("__", "/"): store.objects.put([text]) for name, text in content.items()}
    made = make([*entries, *(Entry(name, digest=each.digest, size=each.size) for name, each in stored.items())])
    with store.database.write() as connection:
        snapshots.create(connection, made)
    return made.id


def test_a_snapshot_that_was_sent_is_a_model_when_it_has_one_entry_at_its_top(store: Store) -> None:
    two = sent(store, a=b"1", b=b"2")
    empty = sent(store)
    folders = sent(store, Entry("model", "dir"))
    linked = sent(store, Entry("model/latest", LINK, target="a"), model__a=b"1")
    with store.database.write() as connection:
        for id, message in ((two, "not 2: a, b"), (empty, "it is empty"), (folders, "no file in 'model'")):
            with pytest.raises(Refused, match=message):
                model_content.of_snapshot(connection, id)
        content = model_content.of_snapshot(connection, linked)
        assert (content.root, content.folder, content.files, content.tree) == ("model", True, 1, linked)
        with pytest.raises(NotFound, match="no snapshot"):
            model_content.of_snapshot(connection, "0" * 64)


def test_a_path_that_is_not_there_is_refused_with_the_files_that_are(store: Store, make_run: MakeRun) -> None:
    make_run("r")
    keep(store, "r", outputs__model__a=b"a", outputs__b=b"b")
    for path in ("outputs/mod", "model", "..", "/outputs", "", "../outputs/b", "x" * 100_000):
        with pytest.raises(NotFound) as refusal:
            of_run(store, "r", path)
        assert refusal.value.code == "model_path_not_found"
        assert refusal.value.detail["files"] == ["outputs/b", "outputs/model/a"]
        assert len(refusal.value.title) < 500
    with store.database.write() as connection:
        files.growing(connection, "r", "logs/out.txt")
    with pytest.raises(Refused, match="still being written"):
        of_run(store, "r", "logs")


def test_a_name_that_is_both_a_file_and_a_folder_has_a_place_for_each(store: Store, make_run: MakeRun) -> None:
    make_run("r")
    keep(store, "r", outputs__m__x=b"1", outputs__m__x__y=b"2")
    content = of_run(store, "r", "outputs/m")
    with store.database.read() as connection:
        assert model_content.entry(connection, content.tree, "m/x~").size == 1
        assert model_content.entry(connection, content.tree, "m/x/y").size == 1
        with pytest.raises(NotFound, match="no file 'm/x'"):
            model_content.entry(connection, content.tree, "m/x")
