"""The loop delivers what comes while it comes, in order, and one source that cannot be read harms no other."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.delivery_server import DeliveryServer, problem, server

from runyard.contracts import journal
from runyard.contracts.delivery import PATIENCE, Delivery, JournalPart, LogPart
from runyard.node.delivery import follow_loop
from runyard.node.delivery.batch import Batch
from runyard.node.delivery.follow_loop import FollowLoop
from runyard.node.delivery.growing_files import GrowingFile
from runyard.node.delivery.journals import Journals
from runyard.node.delivery.outputs import Outputs
from runyard.node.delivery.retrying_client import RetryingClient, ServerAway
from runyard.node.facts import ended, started
from runyard.node.problem import Unwanted
from runyard.sdk.telemetry.telemetry import Telemetry

if TYPE_CHECKING:
    from tests.node.conftest import RunOnServer

__all__ = ["server"]

Until = Callable[[Callable[[], object], str], None]


def nothing() -> None:
    """No end is reported."""


@contextmanager
def following(loop: FollowLoop, report: Callable[[], Any] = nothing) -> Iterator[None]:
    """Has the loop follow, in a thread as in a node runner; then finishes it."""
    over = threading.Event()
    thread = threading.Thread(target=loop.follow, args=(over.is_set,))
    thread.start()
    try:
        yield
    finally:
        over.set()
        loop.nudge()
        thread.join(60)
    loop.finish(report)


LOG = "user_logs/std_log.txt"


def loop_for(server: DeliveryServer, telemetry: Path, **more: Any) -> tuple[FollowLoop, Path]:
    """A loop that follows a log and a telemetry folder; and the log."""
    client = RetryingClient("run-1", server.locator, telemetry)
    log = telemetry / "log"
    return FollowLoop(client, Journals(client, telemetry), [GrowingFile(log, LOG)], **more), log


def append(path: Path, content: bytes) -> None:
    with open(path, "ab") as file:
        file.write(content)


def loss(value: float) -> bytes:
    return journal.line(journal.VALUE, "loss", value, 1.0, None)


class Unreadable:
    """A source as the script of a run may leave one behind."""

    warnings: tuple[str, ...] = ()

    def gather(self, batch: Batch) -> None:
        raise PermissionError(13, "no", "/run/logs")

    gather_rest = gather


def test_facts_logs_and_outputs_arrive_while_they_are_written(
    run: RunOnServer, telemetry: Path, tmp_path: Path, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runyard.node.delivery.uploads.LOOK_EVERY", 0.01)
    monkeypatch.setattr("runyard.node.delivery.settling.SETTLED_AFTER", 0.0)
    client = run.client(tmp_path)
    (tmp_path / "outputs").mkdir()
    sources = [GrowingFile(tmp_path / "log", "user_logs/std_log.txt")]
    loop = FollowLoop(client, Journals(client, telemetry), sources, [Outputs(client, tmp_path / "outputs", "outputs")])
    with following(loop):
        loop.report(started())
        (tmp_path / "log").write_text("one\n")
        (tmp_path / "outputs" / "model").write_text("half")
        until(lambda: run.files().get("user_logs/std_log.txt") == 4, "the log")
        until(lambda: run.files().get("outputs/model") == 4, "the output")
        loop.report({"fact": "finalizing"})
        with open(tmp_path / "log", "a") as log:
            log.write("two\n")
        (tmp_path / "outputs" / "late").write_text("x")
    assert run.read("user_logs/std_log.txt") == b"one\ntwo\n"
    assert run.files()["outputs/late"] == 1
    assert [state["status"] for state in run.get()["states"]] == ["Running", "Finalizing"]
    assert loop.warnings() == []


def test_a_source_that_cannot_be_read_becomes_a_warning_and_harms_no_other(
    run: RunOnServer, telemetry: Path, tmp_path: Path
) -> None:
    client = run.client(tmp_path)
    (tmp_path / "log").write_text("one\n")
    sources: list[Any] = [Unreadable(), GrowingFile(tmp_path / "log", "user_logs/std_log.txt")]
    loop = FollowLoop(client, Journals(client, telemetry), sources)
    loop.finish(nothing)
    assert run.read("user_logs/std_log.txt") == b"one\n"
    [warning] = loop.warnings()
    assert "could not be read" in warning["message"]
    assert "/run/logs" in warning["message"]


def test_the_end_of_the_run_itself_is_left_to_the_owner_of_the_loop(
    run: RunOnServer, telemetry: Path, tmp_path: Path
) -> None:
    child = run.server.make_run(kind="child", parent_id=run.id)
    for each, outcome in ((run, "completed"), (child, "failed")):
        path = telemetry / "journal" / journal.file_name(each.id, "1")
        path.write_bytes(journal.line(journal.END, outcome, None))
    client = run.client(tmp_path)
    loop = FollowLoop(client, Journals(client, telemetry))
    loop.finish(nothing)
    assert loop.end is not None
    assert loop.end.outcome == "completed"
    assert run.get()["status"] == "Running"
    assert child.get()["status"] == "Failed"


def test_a_run_that_is_silent_sends_heartbeats_if_this_process_leads_it(
    server: DeliveryServer, telemetry: Path, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow_loop, "HEARTBEAT_EVERY", 0.01)
    loop, _ = loop_for(server, telemetry, heartbeats=False)
    with following(loop):
        threading.Event().wait(0.2)
        assert server.deliveries == []
    server.deliveries.clear()
    loop, _ = loop_for(server, telemetry)
    with following(loop):
        until(lambda: len(server.deliveries) > 2, "heartbeats")
    assert server.deliveries[0] == Delivery(hold=True, patience=PATIENCE)


def test_what_goes_wrong_with_the_outputs_is_raised_where_the_loop_runs(
    run: RunOnServer, telemetry: Path, tmp_path: Path
) -> None:
    client = run.client(tmp_path / "none")  # a folder that is gone: nobody waits for the run
    (tmp_path / "outputs").mkdir()
    (tmp_path / "outputs" / "a").write_text("x")
    loop = FollowLoop(client, Journals(client, telemetry), (), [Outputs(client, tmp_path / "outputs", "outputs")])
    with pytest.raises(Unwanted, match="is gone"):
        loop.finish(nothing)


# -- one delivery ----------------------------------------------------------------------------------------------------


def test_a_short_life_is_one_delivery(server: DeliveryServer, telemetry: Path) -> None:
    loop, log = loop_for(server, telemetry, last=GrowingFile(telemetry / "own", "system_logs/runner.log"))
    append(telemetry / "own", b"begun\n")
    first, end = started(), ended("completed")

    def report() -> Any:
        append(telemetry / "own", b"done\n")
        return end

    loop.report(first)
    append(log, b"a line\n")
    append(telemetry / "journal" / journal.file_name("run-1", "1"), loss(1))
    loop.finish(report)
    [delivery] = server.deliveries
    assert (delivery.before, delivery.after, delivery.hold) == ([first], [end], False)
    assert delivery.parts == [
        JournalPart("1", 0, loss(1)),
        LogPart(LOG, 0, b"a line\n"),
        LogPart("system_logs/runner.log", 0, b"begun\ndone\n"),
    ]


def test_the_facts_of_a_start_wait_a_little_for_the_first_output_which_triggers_at_once(
    server: DeliveryServer, telemetry: Path, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow_loop, "FACTS_WAIT", 600.0)
    loop, log = loop_for(server, telemetry)
    fact = started()
    with following(loop):
        loop.report(fact)
        append(log, b"a line\n")
        until(lambda: server.deliveries, "the delivery")
    assert (server.deliveries[0].before, server.deliveries[0].parts) == ([fact], [LogPart(LOG, 0, b"a line\n")])


def test_the_facts_of_a_start_wait_only_a_little(server: DeliveryServer, telemetry: Path, until: Until) -> None:
    loop, _ = loop_for(server, telemetry)
    with following(loop):
        loop.report(started())
        until(lambda: server.facts, "the fact")
    assert not server.deliveries[0].parts


def test_an_end_is_reported_after_what_was_not_taken_with_it(server: DeliveryServer, telemetry: Path) -> None:
    loop, log = loop_for(server, telemetry)
    append(log, b"a line\n")
    server.bad = lambda part: problem("bad_name", 400) if isinstance(part, LogPart) else None
    append(telemetry / "journal" / journal.file_name("run-1", "1"), loss(1))
    loop.finish(lambda: {**ended("completed"), "warnings": loop.warnings()})
    [fact] = server.facts
    assert [warning["message"] for warning in fact["warnings"]] == [f"{LOG} was refused by the server: bad_name."]
    assert server.journals == {(None, "1"): loss(1)}
    assert [bool(delivery.parts) for delivery in server.deliveries] == [True, False]


def test_a_node_that_reports_no_end_delivers_what_was_not_taken_at_first(
    server: DeliveryServer, telemetry: Path
) -> None:
    loop, _ = loop_for(server, telemetry, heartbeats=False)
    path = telemetry / "journal" / journal.file_name("run-1", "1")
    append(path, loss(1) + loss(2))
    path.with_suffix(".ack").write_text(str(len(loss(1))))  # which the server has lost since
    loop.finish(nothing)
    assert server.journals == {(None, "1"): loss(1) + loss(2)}
    assert len(server.deliveries) == 2


def test_the_ends_of_child_runs_come_before_that_of_the_run(
    server: DeliveryServer, telemetry: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop, _ = loop_for(server, telemetry)
    reported: list[Any] = []
    monkeypatch.setattr(RetryingClient, "fact", lambda self, fact, run_id: reported.append((run_id, len(server.facts))))
    line = journal.line(journal.END, "failed", None)
    append(telemetry / "journal" / journal.file_name("child", "1"), line)
    loop.finish(lambda: ended("completed"))
    assert reported == [("child", 0)]
    assert server.journals == {("child", "1"): line}
    assert [fact["fact"] for fact in server.facts] == ["ended"]


def test_much_goes_in_several_deliveries_and_the_end_with_the_last(server: DeliveryServer, telemetry: Path) -> None:
    loop, log = loop_for(server, telemetry)
    content = bytes(range(256)) * 10_000
    append(log, content)
    loop.finish(lambda: ended("completed"))
    assert server.files[LOG] == content
    assert len(server.deliveries) == 3
    assert [len(delivery.after) for delivery in server.deliveries] == [0, 0, 1]
    assert not any(delivery.hold for delivery in server.deliveries)


def test_a_receipt_that_is_lost_does_no_harm(server: DeliveryServer, telemetry: Path) -> None:
    loop, log = loop_for(server, telemetry)
    append(log, b"a line\n")
    path = telemetry / "journal" / journal.file_name("run-1", "1")
    append(path, loss(1))
    server.receive_only = True
    loop.finish(lambda: ended("completed"))
    assert len(server.deliveries) == 2
    assert server.files == {LOG: b"a line\n"}
    assert server.journals == {(None, "1"): loss(1)}
    assert path.with_suffix(".ack").read_text() == str(len(loss(1)))


def test_a_journal_is_acknowledged_after_the_receipt_alone(
    server: DeliveryServer, telemetry: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runyard.node.delivery.retrying_client.AFTER_THE_END", 0.0)
    client = RetryingClient("run-1", server.locator, telemetry)
    path = telemetry / "journal" / journal.file_name("run-1", "1")
    append(path, loss(1))
    server.faults = [lambda delivery: problem("disk_full", 507)] * 100
    client.nothing_more_to_come()
    with pytest.raises(ServerAway):
        FollowLoop(client, Journals(client, telemetry)).finish(nothing)
    assert not path.with_suffix(".ack").exists()


def test_a_rescuer_asks_for_all_sizes_at_once(server: DeliveryServer, telemetry: Path) -> None:
    client = RetryingClient("run-1", server.locator, telemetry)
    server.files = {"a": b"12", "b": b"1234"}
    for name in ("a", "b", "c"):
        append(telemetry / name, b"12345")
    sources = [GrowingFile(telemetry / name, name, resume=True) for name in ("a", "b", "c")]
    FollowLoop(client, Journals(client, telemetry), sources).finish(nothing)
    assert server.deliveries[0].parts == [LogPart(name, 5, b"") for name in ("a", "b", "c")]
    assert server.deliveries[1].parts == [LogPart("a", 2, b"345"), LogPart("b", 4, b"5"), LogPart("c", 0, b"12345")]
    assert len(server.deliveries) == 2


def test_every_source_has_its_turn_when_there_is_more_than_fits(
    server: DeliveryServer, telemetry: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow_loop, "MOST_BYTES", 10)
    monkeypatch.setattr("runyard.node.delivery.growing_files.CHUNK", 10)
    client = RetryingClient("run-1", server.locator, telemetry)
    for name in ("a", "b"):
        append(telemetry / name, b"x" * 30)
    sources = [GrowingFile(telemetry / name, name) for name in ("a", "b")]
    FollowLoop(client, Journals(client, telemetry), sources).finish(nothing)
    first = [delivery.parts[0] for delivery in server.deliveries[:3]]
    assert {part.name for part in first if isinstance(part, LogPart)} == {"a", "b"}
    assert server.files == {"a": b"x" * 30, "b": b"x" * 30}


# -- the pace --------------------------------------------------------------------------------------------------------


@contextmanager
def following_a_second_line(server: DeliveryServer, telemetry: Path, until: Until) -> Iterator[tuple[FollowLoop, Path]]:
    """Follow a log at a slow pace: its first line was delivered, its second is there, and the response is held."""
    server.pace, server.held = 600.0, 600.0
    loop, log = loop_for(server, telemetry)
    append(log, b"one\n")
    with following(loop):
        until(lambda: server.holds, "the first delivery")
        append(log, b"two\n")
        yield loop, log


def test_new_bytes_wait_for_the_pace_and_the_server_asks_for_them(
    server: DeliveryServer, telemetry: Path, until: Until
) -> None:
    with following_a_second_line(server, telemetry, until) as (_, log):
        threading.Event().wait(0.3)
        assert server.files == {LOG: b"one\n"}
        server.pace = 0.0
        server.held = 0.0
        server.come()
        until(lambda: server.files[LOG] == b"one\ntwo\n", "the second delivery")
        append(log, b"three\n")
        until(lambda: server.files[LOG].endswith(b"three\n"), "the third delivery, since somebody watches now")
    assert len(set(server.connections)) == 1, "the connection of a held response is used again"


def test_what_only_goes_along_is_no_reason_for_a_delivery_unless_somebody_watches(
    server: DeliveryServer, telemetry: Path, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else each of thousands of silent runs would deliver all the time what its node records of itself."""
    monkeypatch.setattr(follow_loop, "LAST_WAITS", 0.05)
    server.pace, server.held = 0.05, 600.0
    client = RetryingClient("run-1", server.locator, telemetry)
    observed, log = telemetry / "observed.log", telemetry / "log"
    along = GrowingFile(observed, "along")
    loop = FollowLoop(client, Journals(client, telemetry), [GrowingFile(log, LOG)], along=along)
    append(log, b"one\n")
    with following(loop):
        until(lambda: server.holds, "the first delivery")
        append(observed, b"1\n")
        threading.Event().wait(0.5)  # ten times as long as the pace lets new bytes wait
        assert server.files == {LOG: b"one\n"}
        append(log, b"two\n")
        until(lambda: server.files.get("along") == b"1\n", "what goes along with the second line")
        server.pace = server.held = 0.0
        server.come()
        append(observed, b"2\n")
        until(lambda: server.files["along"] == b"1\n2\n", "what is new, since somebody watches")
        server.pace, server.held = 600.0, 600.0
        append(observed, b"3\n")
    assert server.files["along"] == b"1\n2\n3\n", "the rest comes with the end"


def test_a_journal_that_piles_up_does_not_wait_for_the_pace(
    server: DeliveryServer, telemetry: Path, until: Until
) -> None:
    path = telemetry / "journal" / journal.file_name("run-1", "1-main")
    path.parent.mkdir(exist_ok=True)
    with following_a_second_line(server, telemetry, until):
        append(path, loss(1.0))
        threading.Event().wait(0.6)
        assert not server.journals, "one line can wait"
        much = loss(2.0) * (1_000_000 // len(loss(2.0)) + 1)
        append(path, much)
        until(lambda: server.journals.get((None, "1-main"), b"") == loss(1.0) + much, "all of it")


def test_the_end_of_a_run_is_not_delayed_by_the_pace(server: DeliveryServer, telemetry: Path, until: Until) -> None:
    server.pace, server.held = 600.0, 600.0
    loop, log = loop_for(server, telemetry)
    append(log, b"one\n")
    with following(loop, lambda: ended("completed")):
        until(lambda: server.holds, "the first delivery")
        append(log, b"two\n")
    assert server.files == {LOG: b"one\ntwo\n"}
    assert [fact["fact"] for fact in server.facts] == ["ended"]


def test_a_fact_is_not_delayed_by_the_pace(server: DeliveryServer, telemetry: Path, until: Until) -> None:
    server.pace, server.held = 600.0, 600.0
    loop, log = loop_for(server, telemetry)
    append(log, b"one\n")
    with following(loop):
        until(lambda: server.holds, "the first delivery")
        loop.report({"fact": "finalizing"})
        until(lambda: server.facts, "the fact")


def test_a_script_that_asks_for_a_flush_does_not_wait_for_the_pace(
    server: DeliveryServer, telemetry: Path, until: Until
) -> None:
    server.pace, server.held = 600.0, 600.0
    loop, _ = loop_for(server, telemetry)
    script = Telemetry(telemetry)
    with following(loop):
        loop.report(started())
        until(lambda: server.holds, "the first delivery")
        script.journal("run-1").write(loss(1))
        assert script.flush("run-1", 60.0)
    assert list(server.journals.values()) == [loss(1)]


def test_a_held_response_that_breaks_is_followed_by_another_delivery(
    server: DeliveryServer, telemetry: Path, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow_loop, "AFTER_A_BREAK", (0.0, 0.01))
    with following_a_second_line(server, telemetry, until) as (loop, _):
        server.hang_up()
        until(lambda: server.files[LOG] == b"one\ntwo\n", "the second delivery")
    assert loop.warnings() == []


def test_a_held_response_that_ends_is_followed_by_a_heartbeat(
    server: DeliveryServer, telemetry: Path, until: Until
) -> None:
    server.pace, server.held = 600.0, 1.2
    loop, log = loop_for(server, telemetry)
    append(log, b"one\n")
    with following(loop):
        until(lambda: len(server.deliveries) == 2, "the heartbeat")
    assert server.deliveries[1] == Delivery(hold=True, patience=PATIENCE)
    assert len(set(server.connections[:2])) == 1


def test_an_attempt_that_is_over_is_noticed(server: DeliveryServer, telemetry: Path) -> None:
    client = RetryingClient("run-1", server.locator, telemetry, attempt=1)
    server.over = True
    FollowLoop(client, Journals(client, telemetry)).finish(lambda: ended("completed"))
    assert client.superseded
    assert server.deliveries[0].attempt == 1
