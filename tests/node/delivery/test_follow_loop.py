"""The loop delivers what comes while it comes, in order, and one source that cannot be read harms no other."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from runyard.contracts import journal
from runyard.node.delivery import follow_loop
from runyard.node.delivery.follow_loop import FollowLoop
from runyard.node.delivery.growing_files import GrowingFile
from runyard.node.delivery.journals import Journals
from runyard.node.delivery.outputs import Outputs
from runyard.node.facts import started
from runyard.node.problem import Unwanted

if TYPE_CHECKING:
    from tests.node.conftest import RunOnServer

Until = Callable[[Callable[[], object], str], None]


@contextmanager
def following(loop: FollowLoop) -> Iterator[None]:
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
    loop.finish()


class Unreadable:
    """A source as the script of a run may leave one behind."""

    warnings = ()

    def send_new(self) -> bool:
        raise PermissionError(13, "no", "/run/logs")

    def send_rest(self) -> None:
        self.send_new()


def test_facts_logs_and_outputs_arrive_while_they_are_written(
    run: RunOnServer, telemetry: Path, tmp_path: Path, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow_loop, "LOOK_AT_OUTPUTS_EVERY", 0.01)
    monkeypatch.setattr("runyard.node.delivery.outputs.SETTLED_AFTER", 0.0)
    client = run.client(tmp_path)
    (tmp_path / "outputs").mkdir()
    sources = [GrowingFile(client, tmp_path / "log", "user_logs/std_log.txt")]
    loop = FollowLoop(client, Journals(client, telemetry), sources, Outputs(client, tmp_path / "outputs", "outputs"))
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
    sources: list[Any] = [Unreadable(), GrowingFile(client, tmp_path / "log", "user_logs/std_log.txt")]
    loop = FollowLoop(client, Journals(client, telemetry), sources)
    loop.finish()
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
    loop.finish()
    assert loop.end is not None
    assert loop.end.outcome == "completed"
    assert run.get()["status"] == "Running"
    assert child.get()["status"] == "Failed"


def test_heartbeats_are_sent_by_whoever_leads(
    run: RunOnServer, telemetry: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow_loop, "HEARTBEAT_EVERY", 0.0)
    sent: list[Any] = []
    client = run.client(tmp_path)
    monkeypatch.setattr(client, "fact", lambda fact, run_id=None: sent.append(fact["fact"]))
    FollowLoop(client, Journals(client, telemetry), heartbeats=False).finish()
    assert sent == []
    FollowLoop(client, Journals(client, telemetry)).finish()
    assert set(sent) == {"heartbeat"}


def test_what_goes_wrong_with_the_outputs_is_raised_where_the_loop_runs(
    run: RunOnServer, telemetry: Path, tmp_path: Path
) -> None:
    client = run.client(tmp_path / "none")  # a folder that is gone: nobody waits for the run
    (tmp_path / "outputs").mkdir()
    (tmp_path / "outputs" / "a").write_text("x")
    loop = FollowLoop(client, Journals(client, telemetry), (), Outputs(client, tmp_path / "outputs", "outputs"))
    with pytest.raises(Unwanted, match="is gone"):
        loop.finish()
