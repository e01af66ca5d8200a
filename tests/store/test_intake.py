"""If these fail, deliveries that arrive together harm one another, or something that got a receipt is not stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from runyard.contracts.delivery import JournalPart, LogPart
from runyard.contracts.journal import line
from runyard.contracts.states import COMPLETED, QUEUED, RUNNING
from runyard.store.content import deletion, files
from runyard.store.errors import StoreError, Unavailable
from runyard.store.intake import LARGE, Intake, Parcel, RunState, Taken
from runyard.store.metrics import journals, series, staging
from runyard.store.runs import attempts, runs
from runyard.store.runs.records import Run
from runyard.store.store import Store

MakeRun = Callable[..., Run]
POINT = line("v", "loss", 0.5, 1.0, 1)
LOG = "user_logs/std_log.txt"


def parcel(run_id: str, *parts: Any, attempt: int | None = None) -> Parcel:
    return Parcel(run_id, list(parts), attempt)


def codes(taken: Parcel) -> list[int | str]:
    return [each.size if isinstance(each, Taken) else each.code for each in taken.answers]


def log_of(store: Store, run_id: str, name: str = LOG) -> bytes:
    with store.database.read() as connection:
        key = files.get(connection, run_id, name).growing
    assert key is not None
    with store.growing.open(key) as file:
        return file.read()


def points(store: Store, run_id: str) -> int:
    staging.settle(store.database, [run_id])
    with store.database.read() as connection:
        return sum(each["count"] for each in series.read(connection, run_id))


def test_a_group_is_stored_whole_and_each_part_is_answered(store: Store, make_run: MakeRun) -> None:
    for run_id in ("a", "b"):
        make_run(run_id, status=RUNNING)
    group = [
        parcel("a", LogPart(LOG, 0, b"one\n"), JournalPart("w", 0, POINT), LogPart(LOG, 4, b"two\n")),
        parcel("b", LogPart(LOG, 7, b"late\n"), JournalPart("w", 0, POINT), LogPart("../up", 0, b"")),
        parcel("nowhere", LogPart(LOG, 0, b"x")),
        parcel("b", JournalPart("a b", 0, POINT), JournalPart("w", 0, POINT, "a"), JournalPart("w", 0, b"", "nowhere")),
        parcel("b", LogPart(LOG, 3, b"", restart=True)),
        parcel("a"),
    ]
    Intake(store).take(group)
    assert codes(group[0]) == [4, len(POINT), 8]
    assert codes(group[1]) == ["offset_gap", len(POINT), "bad_name"]
    assert isinstance(group[2].error, StoreError)
    assert group[2].error.code == "run_not_found"
    assert codes(group[3]) == ["bad_name", len(POINT), "run_not_found"]
    assert codes(group[4]) == ["bad_request"]
    assert (codes(group[5]), group[5].error) == ([], None)
    assert group[5].state is not None
    assert (group[5].state.status, group[5].state.attempt) == (RUNNING, 1)
    assert log_of(store, "a") == b"one\ntwo\n"
    assert (points(store, "a"), points(store, "b")) == (1, 1)


def test_what_comes_again_changes_nothing(store: Store, make_run: MakeRun) -> None:
    make_run("a", status=RUNNING)
    intake = Intake(store)
    for _ in range(2):
        again = parcel("a", LogPart(LOG, 0, b"one\n"), JournalPart("w", 0, POINT))
        intake.take([again])
        assert codes(again) == [4, len(POINT)]
    alone = parcel("a", LogPart(LOG, 0, b"one\ntwo\n"), JournalPart("w", 0, POINT * 2))
    intake.take_alone(alone)
    assert codes(alone) == [8, 2 * len(POINT)]
    restarted = parcel("a", LogPart(LOG, 0, b"anew", restart=True))
    intake.take([restarted])
    assert log_of(store, "a") == b"anew"
    assert points(store, "a") == 2


def test_a_group_that_fails_is_stored_one_by_one(
    store: Store, make_run: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database refuses a transaction that has to do with one of the runs."""
    for run_id in ("good", "bad", "fine"):
        make_run(run_id, status=RUNNING)
    with store.database.read() as connection:
        bad = runs.serial_of(connection, "bad")
    confirm = journals._confirm_many

    def fail(connection: Any, before: Any, confirmed: dict[tuple[int, str], int]) -> None:
        if any(run == bad for run, _ in confirmed):
            raise Unavailable("not_ready", "The database is away.")
        confirm(connection, before, confirmed)

    def fail_alone(database: Any, run_id: str, *more: Any) -> int:
        if run_id == "bad":
            raise Unavailable("not_ready", "The database is away.")
        return take(database, run_id, *more)

    take = journals.take
    monkeypatch.setattr(journals, "_confirm_many", fail)
    monkeypatch.setattr(journals, "take", fail_alone)
    group = [parcel(run, LogPart(LOG, 0, b"x"), JournalPart("w", 0, POINT)) for run in ("good", "bad", "fine")]
    Intake(store).take(group)
    assert [codes(each) for each in (group[0], group[2])] == [[1, len(POINT)]] * 2
    assert isinstance(group[1].error, Unavailable)
    monkeypatch.undo()
    assert [points(store, run) for run in ("good", "bad", "fine")] == [1, 0, 1]


def test_a_run_that_is_deleted_between_two_deliveries_is_not_there(store: Store, make_run: MakeRun) -> None:
    make_run("a", status=COMPLETED)
    intake = Intake(store)
    intake.take([parcel("a", LogPart(LOG, 0, b"x"), JournalPart("w", 0, POINT))])
    deletion.delete_runs(store, ["a"])
    late = parcel("a", LogPart(LOG, 1, b"y"), JournalPart("w", len(POINT), POINT))
    intake.take([late])
    assert isinstance(late.error, StoreError)
    assert late.error.code == "run_not_found"
    assert intake.fold_due() is False


def test_bytes_go_on_after_a_seal(store: Store, make_run: MakeRun) -> None:
    """A descriptor that is open must not lead to the file that became an object."""
    make_run("a", status=RUNNING)
    intake = Intake(store)
    intake.take([parcel("a", LogPart(LOG, 0, b"one\n"))])
    files.seal(store, "a")
    late = parcel("a", LogPart(LOG, 4, b"two\n"))
    intake.take([late])
    assert codes(late) == [8]
    assert log_of(store, "a") == b"one\ntwo\n"


def test_a_former_attempt_writes_beside_the_files_of_the_next(store: Store, make_run: MakeRun) -> None:
    make_run("a", status=RUNNING)
    intake = Intake(store)
    intake.take([parcel("a", LogPart(LOG, 0, b"first\n"), attempt=1)])
    with store.database.write() as connection:
        attempts.ask(connection, "a", "preempted")
        attempts.begin_next(connection, "a")
    late = parcel("a", LogPart(LOG, 6, b"late\n"), attempt=1)
    intake.take([late, parcel("a", LogPart(LOG, 0, b"second\n"), attempt=2)])
    (answer,) = late.answers
    assert isinstance(answer, Taken)
    assert answer.name == "user_logs/attempt_1/std_log.txt"
    assert log_of(store, "a", answer.name) == b"first\nlate\n"
    assert log_of(store, "a") == b"second\n"


def test_only_whole_logs_that_nobody_has_begun_need_not_grow(store: Store, make_run: MakeRun) -> None:
    make_run("a", status=RUNNING)
    intake, whole = Intake(store), LogPart(LOG, 0, b"one\n")
    for parts in (
        [LogPart(LOG, 4, b"two\n")],
        [LogPart(LOG, 0, b"", restart=True)],
        [whole, LogPart(LOG, 4, b"two\n")],
        [whole, whole],
        [whole, JournalPart("w", 0, POINT)],
        [LogPart("../up", 0, b"x")],
        [LogPart(LOG, 0, b"x" * (LARGE + 1))],
    ):
        assert intake.whole_logs(parcel("a", *parts, attempt=1)) is None, parts
    assert intake.whole_logs(parcel("a", whole, attempt=2)) is None
    assert intake.whole_logs(parcel("nowhere", whole, attempt=1)) is None
    taken = parcel("a", whole, attempt=1)
    logs = intake.whole_logs(taken)
    assert logs is not None
    assert (list(logs), codes(taken)) == ([LOG], [4])
    with store.database.write() as connection:
        files.keep(connection, "a", logs)
    with store.database.read() as connection, store.objects.open(str(files.get(connection, "a", LOG).digest)) as file:
        assert file.read() == b"one\n"
    with pytest.raises(files.Begun), store.database.write() as connection:
        files.keep(connection, "a", logs)


def test_staged_lines_become_points_when_there_are_enough(
    store: Store, make_run: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staging, "ENOUGH", 3 * len(POINT))
    make_run("a", status=RUNNING)
    make_run("b", status=RUNNING)
    intake = Intake(store)
    for each in range(3):
        at = each * len(POINT)
        intake.take([parcel("a", JournalPart("w", at, POINT)), parcel("b", JournalPart("w", 0, POINT))])
        if each < 2:
            intake = Intake(store)  # as after a restart: what is staged counts on
    assert intake.fold_due() is False
    with store.database.read() as connection:
        assert [each["count"] for each in series.read(connection, "a")] == [3]
        assert len(staging.sizes(connection)) == 1
    ended = parcel("b")
    intake.take([ended])
    assert intake.has_staged(ended)
    intake.ended(ended)
    assert not intake.has_staged(ended)
    with store.database.read() as connection:
        assert staging.sizes(connection) == {}


def test_a_journal_with_many_metrics_is_taken_too(
    store: Store, make_run: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journals, "MOST_ROWS", 5)
    make_run("a", status=RUNNING)
    data = b"".join(line("v", f"metric-{number}", 0.5, 1.0, 1) for number in range(12))
    large = parcel("a", JournalPart("w", 0, data), JournalPart("x", 0, POINT))
    Intake(store).take([large])
    assert codes(large) == [len(data), len(POINT)]
    assert points(store, "a") == 13


def test_who_is_to_report_on() -> None:
    assert RunState(1, RUNNING, 1, None).live
    assert RunState(1, QUEUED, 1, None).live
    assert not RunState(1, QUEUED, 1, "preempted").live
    assert not RunState(1, COMPLETED, 1, None).live
