"""The table of runs on both databases: the runs that sentences find, in every order, page by page, and in groups."""

from __future__ import annotations

import pytest

from runyard.contracts import states
from runyard.store.database import Database
from runyard.store.errors import Refused
from runyard.store.metrics import batches, series
from runyard.store.runs import query_language, runs, table, workspaces
from runyard.store.runs.runs import NewRun
from runyard.store.runs.table import Asked, Columns, Sort

SHORT = {"a": "first", "b": "second", "c": "third", "d": "last"}


@pytest.fixture
def filled(database: Database) -> Database:
    """Four runs and a child: `a` to `d` in the order in which they were made."""
    with database.write() as connection:
        workspaces.ensure_default(connection)
        for number, (id, name) in enumerate(SHORT.items()):
            new = NewRun(
                id=id,
                workspace="local",
                experiment="odd" if number % 2 else "even",
                display_name=f"{name} 100%",
                tags={"owner": "me" if number < 2 else "you", "size": str(10**number)} if number < 3 else {},
                launch={"arguments": ["--lr", f"{0.1 * number:.1f}", "--name=x"]},
            )
            runs.create(connection, new)
            if number < 3:
                log(connection, id, "acc", [0.0, 0.9 - 0.1 * number])
        log(connection, "a", "loss", [{"f": "nan"}])
        runs.record_state(connection, "b", states.FAILED, "no")
        runs.record_state(connection, "c", states.COMPLETED, "yes")
        runs.create(connection, NewRun(id="child", workspace="local", experiment="even", parent_id="a", kind="child"))
    return database


def log(connection: object, id: str, name: str, values: list[object], rank: int | None = None) -> None:
    records = [["v", name, value, 0.0, None] for value in values]
    serial = runs.serial_of(connection, id)  # type: ignore[arg-type]
    series.add(connection, serial, batches.of(records), rank)  # type: ignore[arg-type]


def found(database: Database, filter: str = "", sort: str = "created", **more: object) -> str:
    asked = Asked("local", query_language.parse(filter), table.sort_of(sort), **more)  # type: ignore[arg-type]
    with database.read() as connection:
        page = table.page(connection, asked, 100)
        assert table.count(connection, asked) == len(page)
    return " ".join(run.id for run in page)


def test_sentences_find_runs(filled: Database) -> None:
    expected = {
        "": "a b c d",
        "status:failed": "b",
        "status:FAILED,completed": "b c",
        "status!=failed": "a c d",
        "status~fail": "b",
        "metrics.acc>0.75": "a b",
        "metrics.acc>=0.9": "a",
        "metrics.acc!=0.9": "b c",
        "-metrics.acc>0.75": "c d",
        "metrics.acc<0.85 tag.owner=me": "b",
        "has:metrics.loss": "a",
        "has:metrics.nosuch": "",
        "tag.owner=you or status:failed": "b c",
        "tag.owner!=me": "c d",
        "tag.owner~O": "c",
        "tag.size>=10": "b c",
        "tag.size=1e1": "b",
        "params.lr=0.1": "b",
        "params.lr>0.15": "c d",
        "-has:tag.owner": "d",
        "prop.x=y": "",
        "second": "b",
        '"100%"': "a b c d",
        "100_": "",
        "name:LAST": "d",
        "id=a": "a",
        "experiment:odd": "b d",
        "experiment~VEN": "a c",
        "experiment:nosuch": "",
        "is:ended": "b c",
        "is:active": "a d",
        "is:archived": "",
        "is:sweep": "",
        "age<1d": "a b c d",
        "age>1d": "",
        "created>2020-01-01": "a b c d",
        "created<2020-01-01": "",
        "created:2020-01-01": "",
        "started>2020-01-01": "",
        "duration>1h": "",
        "number=1": "a b",
    }
    for sentence, ids in expected.items():
        assert found(filled, sentence) == ids, sentence


def test_orders(filled: Database) -> None:
    expected = {
        "created": "a b c d",
        "-created": "d c b a",
        "-acc": "a b c d",
        "metrics.acc": "c b a d",
        "metrics.loss": "d c b a",
        "-params.lr": "d c b a",
        "tag.size": "a b c d",
        "tag.owner": "b a c d",
        "-tag.owner": "c b a d",
        "params.name": "d c b a",
        "name": "a d b c",
        "status": "c b d a",
        "nosuch": "d c b a",
    }
    for sort, ids in expected.items():
        assert found(filled, sort=sort) == ids, sort
    asked = Asked("local", sort=Sort("acc", query_language.METRIC))
    with filled.read() as connection:
        pages = [table.page(connection, asked, 1, offset)[0].id for offset in range(4)]
        assert pages == ["a", "b", "c", "d"]
        assert table.page(connection, asked, 10, 4) == []
        assert [run.id for run in table.page(connection, asked, 2, 2)] == ["c", "d"]
        with pytest.raises(Refused):
            table.page(connection, Asked("local", sort=Sort("nosuch")), 1)
    for wrong in ("", "-", "metrics."):
        with pytest.raises(Refused):
            table.sort_of(wrong)


def test_an_order_by_a_metric_that_the_sentence_bounds(filled: Database) -> None:
    with filled.write() as connection:
        log(connection, "d", "acc", [{"f": "inf"}])  # found by what is larger, and last as it is no number
    expected = {
        "metrics.acc<0.85": "b c",
        "metrics.acc>0.75": "a b d",
        "metrics.acc>0.75 metrics.acc<0.85": "b",
        "metrics.acc>0.75 tag.owner=me": "a b",
        "metrics.acc<0.75 or metrics.acc>0.85": "a c d",
        "not metrics.acc<0.85": "a d",
        "has:metrics.acc metrics.acc!=0.9": "b c d",
    }
    for sentence, ids in expected.items():
        assert found(filled, sentence, "-acc") == ids, sentence


def test_rows_have_what_the_columns_show(filled: Database) -> None:
    with filled.read() as connection:
        page = table.page(connection, Asked("local", sort=Sort("created", descending=False)), 2)
        first, second = table.rows(connection, page, Columns(["acc", "loss"], ["lr"], ["owner"]))
    assert (first.metrics, first.children) == ({"acc": 0.9, "loss": None}, 1)
    assert (second.metrics, second.children) == ({"acc": 0.8}, 0)
    assert second.run.parameters == {"lr": "0.1", "name": "x"}


def test_children_and_archived_runs_come_when_asked_for(filled: Database) -> None:
    assert found(filled, children=True) == "a b c d child"
    assert found(filled, parent="a") == "child"
    assert found(filled, "is:child", children=True) == "child"
    with filled.write() as connection:
        runs.archive(connection, ["a", "b"], True)
        runs.archive(connection, ["b"], False)
    assert found(filled) == "b c d"
    assert found(filled, "is:archived") == "a"
    assert found(filled, "is:archived or -is:archived") == "a b c d"


def test_groups(filled: Database) -> None:
    with filled.read() as connection:
        by_owner = table.groups(connection, Asked("local"), table.sort_of("tag.owner"), ["acc"], 10)
        by_experiment = table.groups(connection, Asked("local"), Sort("experiment"), [], 1)
        with pytest.raises(Refused):
            table.groups(connection, Asked("local"), table.sort_of("acc"), [], 10)
        with pytest.raises(Refused):
            table.groups(connection, Asked("local"), Sort("created"), [], 10)
    assert [(each.value, each.runs) for each in by_owner] == [("me", 2), (None, 1), ("you", 1)]
    assert by_owner[0].metrics["acc"] == pytest.approx((0.8, 0.85, 0.9))
    assert by_owner[0].states == {states.NOT_STARTED: 1, states.FAILED: 1}
    assert [(each.value, each.runs) for each in by_experiment] == [("even", 2)]


def test_names_and_values_are_offered(filled: Database) -> None:
    with filled.read() as connection:
        assert table.names(connection, "local", 10) == {
            "metrics": ["acc", "loss"],
            "params": ["lr", "name"],
            "tag": ["owner", "size"],
            "prop": [],
        }
        assert table.values(connection, "local", table.sort_of("tag.owner"), "", 10) == ["me", "you"]
        assert table.values(connection, "local", table.sort_of("tag.owner"), "Y", 10) == ["you"]
        assert table.values(connection, "local", table.sort_of("experiment"), "", 10) == ["even", "odd"]
        assert table.values(connection, "local", table.sort_of("status"), "fa", 10) == ["Failed"]
        assert table.values(connection, "local", table.sort_of("created"), "", 10) == []


def test_a_metric_of_several_ranks_is_one_column(filled: Database) -> None:
    with filled.write() as connection:
        log(connection, "d", "speed", [1.0, 2.0], rank=1)
        log(connection, "d", "speed", [3.0], rank=0)
        log(connection, "d", "speed", [5.0], rank=1)
        log(connection, "c", "speed", [2**2000])
        log(connection, "c", "steps", [7])
        log(connection, "c", "note", ["text"])
    assert found(filled, "has:metrics.speed", "-metrics.speed") == "d c"
    with filled.read() as connection:
        values = table.last_values(connection, ["c", "d"], ["speed", "steps", "note"])
    assert values == {"c": {"speed": None, "steps": 7.0, "note": None}, "d": {"speed": 5.0}}
