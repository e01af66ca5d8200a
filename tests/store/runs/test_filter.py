from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from runyard.contracts import states
from runyard.store.content import files
from runyard.store.errors import Refused
from runyard.store.runs import filter, runs, workspaces
from runyard.store.runs.runs import Run, RunFilter
from runyard.store.store import Store

MakeRun = Callable[..., Run]


@pytest.fixture
def found(store: Store) -> Callable[..., list[str]]:
    """The ids of the runs that a filter finds, page by page."""

    def find(**wanted: Any) -> list[str]:
        ids: list[str] = []
        after = None
        with store.database.read() as connection:
            while True:
                page, after = runs.find(connection, RunFilter(**wanted), 2, after)
                ids += [run.id for run in page]
                if after is None:
                    return ids

    return find


def test_pages_give_every_run_once_newest_first(store: Store, make_run: MakeRun) -> None:
    made = [make_run(tags={"n": str(number)}, properties={"p": "x"}).id for number in range(7)]
    with store.database.read() as connection:
        first, after = runs.find(connection, RunFilter(), 3)
        make_run("came-later")
        second, after = runs.find(connection, RunFilter(), 3, after)
        third, end = runs.find(connection, RunFilter(), 3, after)
    assert [run.id for run in first + second + third] == made[::-1]
    assert end is None
    assert [run.tags["n"] for run in first] == ["6", "5", "4"]
    assert all(run.properties == {"p": "x"} for run in first)
    with store.database.read() as connection:
        assert runs.get(connection, made[0]) == third[-1]


def test_a_page_that_is_just_full_has_no_next(store: Store, make_run: MakeRun) -> None:
    make_run()
    make_run()
    with store.database.read() as connection:
        page, after = runs.find(connection, RunFilter(), 2)
    assert (len(page), after) == (2, None)


@pytest.mark.parametrize("cursor", ["", "7", "r", "r-1", "rx", "r1; DROP TABLE runs", "r" + "9" * 30])
def test_a_cursor_of_no_use_is_refused(store: Store, cursor: str) -> None:
    with store.database.read() as connection, pytest.raises(Refused, match="no place in the list"):
        runs.find(connection, RunFilter(), 2, cursor)


def test_filters_narrow_the_list(store: Store, make_run: MakeRun, found: Callable[..., list[str]]) -> None:
    with store.database.write() as connection:
        workspaces.create(connection, "other", "s", "g")
    make_run("a1", experiment="a")
    make_run("a2", experiment="a", status=states.RUNNING, type="hyperdrive")
    make_run("b1", experiment="b", target="gpu")
    make_run("oa", experiment="a", workspace="other")
    assert found() == ["oa", "b1", "a2", "a1"]
    assert found(workspace="local") == ["b1", "a2", "a1"]
    assert found(workspace="nowhere") == []
    assert found(experiment="a") == ["oa", "a2", "a1"]
    assert found(workspace="local", experiment="a") == ["a2", "a1"]
    assert found(workspace="local", experiment="none") == []
    assert found(status="Running") == ["a2"]
    assert found(workspace="local", status="NotStarted") == ["b1", "a1"]
    assert found(experiment="a", status="NotStarted") == ["oa", "a1"]
    assert found(type="hyperdrive") == ["a2"]
    assert found(target="gpu") == ["b1"]
    assert found(status="\0") == []


def test_labels_narrow_the_list(make_run: MakeRun, found: Callable[..., list[str]]) -> None:
    make_run("one", tags={"final": None, "lr": "0.1"})
    make_run("two", tags={"lr": "0.1", "final": "yes"}, properties={"lr": "0.2"})
    make_run("three", tags={"lr": "0.2", "long": "x" * 5000})
    make_run("four", properties={"lr": "0.1"})
    assert found(tags=[("lr", "0.1")]) == ["two", "one"]
    assert found(tags=[("lr", None)]) == ["three", "two", "one"]
    assert found(tags=[("lr", "0.1"), ("final", None)]) == ["two", "one"]
    assert found(tags=[("lr", "0.1"), ("final", "yes")]) == ["two"]
    assert found(tags=[("long", "x" * 5000)]) == ["three"]
    assert found(properties=[("lr", "0.1")]) == ["four"]
    assert found(tags=[("lr", "0.1")], properties=[("lr", "0.2")]) == ["two"]
    assert found(tags=[("LR", "0.1")]) == []
    assert found(tags=[("lr", "0.1")], status="Running") == []


def test_children_are_left_out_unless_asked_for(make_run: MakeRun, found: Callable[..., list[str]]) -> None:
    make_run("root")
    make_run("child", parent_id="root", status=states.RUNNING)
    make_run("grandchild", parent_id="child")
    make_run("great", parent_id="grandchild")
    make_run("alone")
    assert found() == ["alone", "root"]
    assert found(workspace="local") == ["alone", "root"]
    assert found(workspace="local", status="Running") == []
    assert found(status="Running", include_children=True) == ["child"]
    assert found(include_children=True) == ["alone", "great", "grandchild", "child", "root"]
    assert found(parent="root") == ["child"]
    assert found(root="root") == ["great", "grandchild", "child"]
    assert found(root="child") == ["great", "grandchild"]
    assert found(root="alone") == []
    assert found(root="nobody") == found(parent="nobody") == []


def test_an_id_can_be_given_in_short(make_run: MakeRun, found: Callable[..., list[str]]) -> None:
    for id in ("train_1_aaaa", "train_2_bbbb", "trainX2_cccc"):
        make_run(id=id)
    assert found(short="train_") == ["train_2_bbbb", "train_1_aaaa"], "'_' stands for itself"
    assert found(short="bbbb") == ["train_2_bbbb"]
    assert found(short="bb") == []
    assert found(short="%") == []


def test_any_part_of_an_id_can_be_given(make_run: MakeRun, found: Callable[..., list[str]]) -> None:
    for id in ("train_1_aaaa", "train_2_bbbb"):
        make_run(id=id)
    assert found(part="n_2_b") == ["train_2_bbbb"]
    assert found(part="train") == ["train_2_bbbb", "train_1_aaaa"]
    assert found(part="%") == []


def test_runs_that_are_older_than_a_time(make_run: MakeRun, found: Callable[..., list[str]]) -> None:
    old, new = make_run("old"), make_run("new")
    assert found(before=new.created_at) == ["old"]
    assert found(before=old.created_at) == []
    assert found(before=new.created_at + timedelta(seconds=1)) == ["new", "old"]


def test_the_order_can_be_chosen(store: Store, make_run: MakeRun, found: Callable[..., list[str]]) -> None:
    begun = datetime(2026, 1, 1, tzinfo=timezone.utc)
    for id, size, took in (("a", 10, 5), ("b", 0, 50), ("c", 300, None), ("d", 20, 500), ("e", 0, 1)):
        make_run(id)
        if size:
            stored = store.objects.put([b"x" * size])
            with store.database.write() as connection:
                files.put(connection, id, "model", stored)
        if took is not None:
            with store.database.write() as connection:
                runs.record_state(connection, id, states.RUNNING, None, happened_at=begun)
                runs.record_state(connection, id, states.COMPLETED, None, happened_at=begun + timedelta(seconds=took))
    assert found(order="newest") == ["e", "d", "c", "b", "a"]
    assert found(order="oldest") == ["a", "b", "c", "d", "e"]
    assert found(order="largest") == ["c", "d", "a", "e", "b"]
    assert found(order="longest") == ["d", "b", "a", "e", "c"]


def test_many_labels_are_looked_for_and_too_many_refused(make_run: MakeRun, found: Callable[..., list[str]]) -> None:
    tags = {f"key{number}": str(number) for number in range(filter.MOST_LABELS)}
    made = make_run(tags=tags)
    make_run(tags={**tags, "key7": "other"})
    assert found(tags=list(tags.items())) == [made.id]
    with pytest.raises(Refused, match="asks for 1000 tags, properties and parameters") as refusal:
        found(tags=[("key", None)] * 600, properties=[("key", None)] * 400)
    assert refusal.value.code == "bad_request"


def test_no_run_is_found_by_more_than_an_id_can_hold(make_run: MakeRun, found: Callable[..., list[str]]) -> None:
    make_run()
    assert found(short="_" * 60_000) == []


def test_archived_runs_are_found_by_their_ids_alone(
    store: Store, make_run: MakeRun, found: Callable[..., list[str]]
) -> None:
    run, other = make_run("put-away"), make_run()
    with store.database.write() as connection:
        runs.archive(connection, [run.id], True)
    assert found() == [other.id]
    assert found(short="put") == [run.id]
    assert found(part="t-aw") == [run.id]
    assert found(archived=True) == [other.id, run.id]
    with store.database.write() as connection:
        runs.archive(connection, [run.id], False)
    assert found() == [other.id, run.id]
