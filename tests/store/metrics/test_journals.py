from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, event

from runyard.contracts import journal
from runyard.contracts.journal import line, pack_value
from runyard.store import tables
from runyard.store.errors import Conflict, NotFound, Refused
from runyard.store.metrics import journals, series, staging
from runyard.store.metrics.journals import Incoming
from runyard.store.runs import runs
from runyard.store.runs.records import NewRun, Run
from runyard.store.store import Store

MakeRun = Callable[..., Run]
LINES = [line("v", "loss", 1.0 / (n + 1), float(n), n) for n in range(5)]


def accept(store: Store, offset: int, data: bytes, run_id: str = "r", writer: str = "w") -> int:
    with store.database.write() as connection:
        return journals.accept(connection, run_id, writer, offset, data)


def metrics(store: Store, run_id: str = "r") -> list[dict[str, Any]]:
    with store.database.read() as connection:
        return series.read(connection, run_id)


def test_a_batch_is_confirmed_to_its_end(store: Store, make_run: MakeRun) -> None:
    make_run("r")
    data = b"".join(LINES)
    assert accept(store, 0, b"") == 0
    assert accept(store, 0, data) == len(data)
    assert accept(store, len(data), b"") == len(data)
    assert metrics(store)[0]["values"] == [1.0 / (n + 1) for n in range(5)]


def test_what_is_known_is_skipped(store: Store, make_run: MakeRun) -> None:
    make_run("r")
    data = b"".join(LINES)
    known = accept(store, 0, data[: len(LINES[0])])
    assert accept(store, 0, data[:known]) == known
    assert accept(store, 0, data) == len(data)
    assert accept(store, known, data[known:]) == len(data)
    assert metrics(store)[0]["steps"] == [0, 1, 2, 3, 4]


def test_a_gap_is_refused_and_says_where_to_go_on(store: Store, make_run: MakeRun) -> None:
    make_run("r")
    known = accept(store, 0, LINES[0])
    for data in (LINES[2], b""):
        with pytest.raises(Conflict) as caught:
            accept(store, known + 1, data)
        assert caught.value.code == "offset_gap"
        assert caught.value.detail == {"offset": known}


def test_writers_have_offsets_of_their_own(store: Store, make_run: MakeRun) -> None:
    make_run("r")
    assert accept(store, 0, LINES[0], writer="rank-0") == accept(store, 0, LINES[0], writer="rank-1")
    assert metrics(store)[0]["count"] == 2


@pytest.mark.parametrize("data", [LINES[0][:-1], LINES[0] + LINES[1][:-5]])
def test_half_a_line_is_refused(store: Store, make_run: MakeRun, data: bytes) -> None:
    make_run("r")
    with pytest.raises(Refused) as caught:
        accept(store, 0, data)
    assert caught.value.code == "bad_journal"
    assert metrics(store) == []


def test_a_batch_that_does_not_fit_what_is_known_is_refused(store: Store, make_run: MakeRun) -> None:
    make_run("r")
    accept(store, 0, LINES[0])
    other = line("v", "loss", 1.0, 0.0, 12345)
    with pytest.raises(Refused, match="begin and end"):
        accept(store, 0, other + LINES[1])


def test_a_bad_line_changes_nothing_and_is_named(store: Store, make_run: MakeRun) -> None:
    make_run("r", tags={"a": "1"})
    start = accept(store, 0, LINES[0])
    with pytest.raises(Refused) as caught:
        accept(store, start, line("g", {"a": "2"}) + LINES[1] + b"oops\n")
    assert caught.value.detail == {"line": 3, "offset": start + len(line("g", {"a": "2"})) + len(LINES[1])}
    assert metrics(store)[0]["count"] == 1
    assert accept(store, start, LINES[1]) == start + len(LINES[1])
    with store.database.read() as connection:
        assert runs.get(connection, "r").tags == {"a": "1"}


def test_labels_are_applied(store: Store, make_run: MakeRun) -> None:
    make_run("r", tags={"gone": "1", "kept": "1"}, properties={"fixed": "1"})
    first = line("g", {"new": "1", "none": None}) + line("G", ["gone"]) + line("p", {"fixed": "2", "added": "3"})
    known = accept(store, 0, first)
    accept(store, known, line("G", ["new"]) + line("g", {"kept": "2"}))
    with store.database.read() as connection:
        run = runs.get(connection, "r")
    assert run.tags == {"kept": "2", "none": None}
    assert run.properties == {"fixed": "1", "added": "3"}


def test_what_is_not_the_stores_is_passed_over(store: Store, make_run: MakeRun) -> None:
    make_run("r")
    data = line("f", "outputs/x", "spooled") + line("e", "failed", {"code": "x"})
    assert accept(store, 0, data) == len(data)
    with store.database.read() as connection:
        assert runs.get(connection, "r").status == "NotStarted"


def test_texts_that_no_database_can_hold_do_not_stop_a_journal(store: Store, make_run: MakeRun) -> None:
    make_run("r")
    data = line("v", "half \ud800", "nul \0 half \udfff", 1.0, None) + line("g", {"nul \0": "half \ud800"})
    assert accept(store, 0, data) == len(data)
    (metric,) = metrics(store)
    assert (metric["name"], metric["values"]) == ("half \ufffd", ["nul \0 half \ufffd"])
    with store.database.read() as connection:
        assert runs.get(connection, "r").tags == {"nul \ufffd": "half \ufffd"}


def test_bad_addresses_are_told(store: Store, make_run: MakeRun) -> None:
    make_run("r")
    with pytest.raises(NotFound):
        accept(store, 0, LINES[0], run_id="nobody")
    for writer in ("", "w" * 256, "nul\0"):
        with pytest.raises(Refused):
            accept(store, 0, LINES[0], writer=writer)


names = st.sampled_from(["loss", "acc", "lr"])
scalars = st.floats() | st.integers() | st.booleans() | st.none() | st.text(max_size=5)
times = st.floats(0, 2e9)
records = st.one_of(
    st.builds(
        lambda n, v, t, s: line("v", n, pack_value(v), t, s), names, scalars, times, st.none() | st.integers(0, 99)
    ),
    st.builds(lambda n, v, t: line("v", n, pack_value(v), t, None), names, st.floats(), times),
    st.builds(lambda n, v, t: line("l", n, [pack_value(x) for x in v], t), names, st.lists(scalars, max_size=4), times),
    st.builds(
        lambda n, columns, v, t: line("t", n, {column: [pack_value(v)] for column in columns}, t),
        names,
        st.sets(st.sampled_from("abc")),
        scalars,
        times,
    ),
    st.builds(
        lambda n, file, t: line("a", n, "azureml.v2.image", file, t), names, st.sampled_from(["a.png", "b"]), times
    ),
    st.builds(lambda n, text: line("d", n, text), names, st.text(max_size=5)),
    st.builds(lambda k, v: line("g", {k: v}), names, st.none() | st.text(max_size=3)),
    st.builds(lambda k: line("G", [k]), names),
    st.builds(lambda k, v: line("p", {k: v}), names, st.text(max_size=3)),
    st.just(line("f", "outputs/a", "s")),
)
numbers = count()


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    lines=st.lists(records, max_size=30),
    pieces=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=12),
)
def test_any_way_of_sending_a_journal_gives_the_same(
    store: Store, lines: list[bytes], pieces: list[tuple[int, int]]
) -> None:
    """Repeats, overlaps, gaps, any split: what counts is what the journal says."""
    number = next(numbers)
    ends = [sum(map(len, lines[:at])) for at in range(len(lines) + 1)]
    data = b"".join(lines)
    with store.database.write() as connection:
        for name in ("once", "pieces"):
            runs.create(connection, NewRun(f"{name}-{number}", "local", "exp", properties={"lr": "fixed"}))
    assert accept(store, 0, data, f"once-{number}") == len(data)

    confirmed = 0
    for first, last in [*pieces, (0, len(lines))]:
        start, end = ends[min(first, len(lines))], ends[min(last, len(lines))]
        piece = data[start:end]
        if start > confirmed:
            with pytest.raises(Conflict) as caught:
                accept(store, start, piece, f"pieces-{number}")
            assert caught.value.detail == {"offset": confirmed}
        else:
            confirmed = max(confirmed, start + len(piece))
            assert accept(store, start, piece, f"pieces-{number}") == confirmed
    assert confirmed == len(data)
    assert repr(metrics(store, f"pieces-{number}")) == repr(metrics(store, f"once-{number}"))
    with store.database.read() as connection:
        once, pieced = runs.get(connection, f"once-{number}"), runs.get(connection, f"pieces-{number}")
    assert (pieced.tags, pieced.properties) == (once.tags, once.properties)


def test_the_journal_and_its_parser_agree_on_floats(store: Store, make_run: MakeRun) -> None:
    make_run("r")
    text = b'["v","x",' + journal.encode_float(float("-inf")).encode() + b",1.0,null]\n"
    accept(store, 0, text)
    assert metrics(store)[0]["values"] == [{"f": "-inf"}]


def test_a_journal_of_many_names_lets_others_have_their_turn(store: Store, make_run: MakeRun) -> None:
    make_run("r")
    names = 3 * journals.MOST_ROWS
    data = b"".join(line("v", f"metric {number % names}", float(number), 1.0, None) for number in range(2 * names))
    touched: list[int] = []

    def count_rows(connection: Connection, clauseelement: Any, multiparams: Any, params: Any, options: Any) -> None:
        if clauseelement.is_insert and clauseelement.table is tables.series:
            touched.append(len(multiparams))

    event.listen(store.database._writers, "before_execute", count_rows)
    try:
        assert journals.take(store.database, "r", "w", 0, data) == len(data)
    finally:
        event.remove(store.database._writers, "before_execute", count_rows)
    assert sum(touched) == names
    assert max(touched) <= journals.MOST_ROWS
    found = {metric["name"]: metric["values"] for metric in metrics(store)}
    assert found == {f"metric {number}": [float(number), float(number + names)] for number in range(names)}
    assert journals.take(store.database, "r", "w", 0, data) == len(data), "what comes twice changes nothing"
    assert {metric["name"]: metric["values"] for metric in metrics(store)} == found


@pytest.mark.parametrize("data", [b"", b"no line", b'["v","a",1.0,1.0,null]\nhalf'])
def test_what_is_no_batch_is_taken_as_it_was(store: Store, make_run: MakeRun, data: bytes) -> None:
    make_run("r")
    if data:
        with pytest.raises(Refused):
            journals.take(store.database, "r", "w", 0, data)
    else:
        assert journals.take(store.database, "r", "w", 0, data) == 0
    assert metrics(store) == []


def incoming(connection: Connection, writer: str, offset: int, data: bytes, run_id: str = "r") -> Incoming:
    return journals.incoming(runs.serial_of(connection, run_id), writer, offset, data)


def test_many_journals_are_taken_at_once_and_one_that_is_refused_harms_no_other(
    store: Store, make_run: MakeRun
) -> None:
    make_run("r")
    make_run("other")
    first, second = LINES[0], LINES[1]
    with store.database.write() as connection:
        answers = journals.accept_many(
            connection,
            [
                incoming(connection, "w", 0, first),
                incoming(connection, "w", len(first), second),  # follows the one before it in the same transaction
                incoming(connection, "w", 999, first),
                incoming(connection, "x", 0, b"no journal\n"),
                incoming(connection, "x", 0, b"no line feed"),
                incoming(connection, "w", 0, first, "other"),
                incoming(connection, "w", 0, first + second),  # known by now
            ],
        )
    end = len(first + second)
    codes = [answer if isinstance(answer, int) else answer.code for answer in answers]
    assert codes == [len(first), end, "offset_gap", "bad_journal", "bad_journal", len(first), end]
    assert isinstance(answers[2], Conflict)
    assert answers[2].detail == {"offset": end}
    staging.settle(store.database, ["r", "other"])
    assert metrics(store)[0]["steps"] == [0, 1]
    assert metrics(store, "other")[0]["steps"] == [0]
    assert accept(store, end, LINES[2]) == end + len(LINES[2]), "one at a time goes on where many have stopped"


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cuts=st.lists(st.integers(0, 5), min_size=1, max_size=8), together=st.booleans())
def test_however_lines_are_cut_each_point_is_there_once(
    store: Store, make_run: MakeRun, cuts: list[int], together: bool
) -> None:
    run = make_run().id
    data = b"".join(LINES)
    ends = [sum(map(len, LINES[:cut])) for cut in [*cuts, 5]]
    with store.database.write() as connection:
        some = [incoming(connection, "w", 0, data[:end], run) for end in ends]
        for group in [some] if together else [[each] for each in some]:
            journals.accept_many(connection, group)
    staging.settle(store.database, [run])
    assert metrics(store, run)[0]["steps"] == [0, 1, 2, 3, 4]
