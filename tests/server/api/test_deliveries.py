"""If these fail, what the reporters of runs deliver is lost, doubled, refused without a reason, or comes too late."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.conftest import link_sdk
from tests.server.conftest import PATIENCE, Reporter, journal_lines, on_both_databases, serve

from runyard.contracts.delivery import Delivery, JournalPart, LogPart, encode
from runyard.scheduler import heartbeats
from runyard.scheduler.states import SILENT, Fact
from runyard.server.middleware import body_limit
from runyard.server.settings import Settings
from runyard.store.runs import attempts

if TYPE_CHECKING:
    from tests.server.conftest import Client, Served

LOG = "user_logs/std_log.txt"
POINT = journal_lines(["v", "loss", 0.5, 10.0, 1])
LATER = journal_lines(["v", "loss", 0.25, 11.0, 2])


@pytest.fixture
def reporter(client: Client) -> Reporter:
    return Reporter(client, client.make_run())


def codes(answers: list[Any]) -> list[Any]:
    return [answer["problem"]["code"] if "problem" in answer else answer for answer in answers]


# -- what a delivery does ---------------------------------------------------------------------------------------------


@on_both_databases
def test_facts_logs_and_points_arrive_in_one_request(client: Client) -> None:
    run = client.make_run(start=False)
    reporter = Reporter(client, run)
    receipt = reporter.deliver(
        attempt=1,
        before=[{"fact": "started"}],
        parts=[LogPart(LOG, 0, b"hello\n"), JournalPart("1-main", 0, POINT), LogPart(LOG, 6, b"again\n")],
        after=[{"fact": "ended", "outcome": "completed"}],
    )
    parts = [{"size": 6}, {"offset": len(POINT)}, {"size": 12}]
    pace = receipt.pop("pace")
    assert receipt == {"status": "Completed", "before": [{}], "parts": parts, "after": [{}]}
    assert pace >= 0
    details = client.ok("GET", reporter.path)
    assert [state["status"] for state in details["states"]] == ["NotStarted", "Running", "Completed"]
    assert client.get(f"{reporter.path}/files/{LOG}").body == b"hello\nagain\n"
    (metric,) = client.ok("GET", f"{reporter.path}/metrics")["metrics"][run["id"]]
    assert (metric["values"], metric["steps"]) == ([0.5], [1])


@on_both_databases
def test_a_short_life_is_one_delivery_however_often_it_comes(client: Client) -> None:
    run = client.make_run(start=False)
    reporter = Reporter(client, run)
    system = "system_logs/runner.log"
    for _ in range(3):
        receipt = reporter.deliver(
            attempt=1,
            before=[{"fact": "started"}, {"fact": "finalizing"}],
            parts=[LogPart(LOG, 0, b"hello\n"), LogPart(system, 0, b"began\n")],
            after=[{"fact": "ended", "outcome": "completed"}],
        )
        assert receipt["status"] == "Completed"
        assert (receipt["before"], receipt["after"]) == ([{}, {}], [{}])
        assert receipt["parts"] == [{"size": 6}, {"size": 6}]
        assert client.get(f"{reporter.path}/files/{LOG}").body == b"hello\n"
        assert client.get(f"{reporter.path}/files/{system}").body == b"began\n"
    details = client.ok("GET", reporter.path)
    assert [state["status"] for state in details["states"]] == ["NotStarted", "Running", "Finalizing", "Completed"]
    assert sorted(details["logs"]) == [system, LOG]


@on_both_databases
def test_a_life_of_which_something_was_delivered_is_none_of_those(client: Client) -> None:
    """Its logs grow on from what is there."""
    run = client.make_run(start=False)
    reporter = Reporter(client, run)
    reporter.deliver(attempt=1, parts=[LogPart(LOG, 0, b"hello\n")])
    receipt = reporter.deliver(
        attempt=1,
        before=[{"fact": "started"}, {"fact": "no fact"}],
        parts=[LogPart(LOG, 0, b"hello\nagain\n")],
        after=[{"fact": "ended", "outcome": "completed"}],
    )
    assert codes(receipt["before"]) == [{}, "bad_request"]
    assert (receipt["parts"], receipt["status"]) == ([{"size": 12}], "Completed")
    assert client.get(f"{reporter.path}/files/{LOG}").body == b"hello\nagain\n"


def test_each_part_is_answered_by_itself(reporter: Reporter) -> None:
    reporter.deliver(parts=[LogPart(LOG, 0, b"hello\n"), JournalPart("w", 0, POINT)])
    receipt = reporter.deliver(
        parts=[
            LogPart(LOG, 99, b"late"),
            JournalPart("w", 99, POINT),
            JournalPart("x", 0, b"{no\n"),
            LogPart("../up", 0, b"x"),
            JournalPart("a b", 0, POINT),
            LogPart(LOG, 7, b"", restart=True),
            LogPart(LOG, 0, b"hello\nagain\n"),
            JournalPart("w", 0, POINT + LATER),
        ],
        before=[{"fact": "nonsense"}, {"fact": "ended"}, {"fact": "started"}],
        after=[{"fact": "ended", "outcome": "completed"}, {"fact": "finalizing"}],
    )
    assert codes(receipt["before"]) == ["bad_request", "invalid_run", {}]
    assert codes(receipt["parts"]) == [
        *("offset_gap", "offset_gap", "bad_journal", "bad_name", "bad_name", "bad_request"),
        {"size": 12},
        {"offset": len(POINT + LATER)},
    ]
    assert receipt["parts"][0]["problem"]["detail"] == {"size": 6}
    assert receipt["parts"][1]["problem"]["detail"] == {"offset": len(POINT)}
    assert receipt["after"] == [{"skipped": True}, {"skipped": True}], "an end comes after everything else"
    assert receipt["status"] == "Running"
    found = reporter.client.ok("GET", f"{reporter.path}/metrics")["metrics"][reporter.run["id"]]
    assert [metric["count"] for metric in found] == [2]


def test_what_comes_again_does_no_harm(reporter: Reporter) -> None:
    parts = [LogPart(LOG, 0, b"hello\n"), JournalPart("w", 0, POINT)]
    receipts = [reporter.deliver(parts=parts, after=[{"fact": "ended", "outcome": "completed"}]) for _ in range(3)]
    assert [receipt["status"] for receipt in receipts] == ["Completed"] * 3
    assert [receipt["parts"] for receipt in receipts] == [[{"size": 6}, {"offset": len(POINT)}]] * 3
    (metric,) = reporter.client.ok("GET", f"{reporter.path}/metrics")["metrics"][reporter.run["id"]]
    assert metric["count"] == 1


def test_a_log_that_begins_anew(reporter: Reporter) -> None:
    reporter.deliver(parts=[LogPart(LOG, 0, b"former\n")])
    receipt = reporter.deliver(parts=[LogPart(LOG, 0, b"new\n", restart=True), LogPart(LOG, 4, b"on\n")])
    assert receipt["parts"] == [{"size": 4}, {"size": 7}]
    assert reporter.client.get(f"{reporter.path}/files/{LOG}").body == b"new\non\n"


def test_tags_are_found_at_once(reporter: Reporter) -> None:
    reporter.deliver(parts=[JournalPart("w", 0, journal_lines(["v", "a", 1, 0.0, None], ["g", {"stage": "x"}]))])
    found = reporter.client.ok("GET", "/api/runs?tag=stage=x&workspace=local")["runs"]
    assert [run["id"] for run in found] == [reporter.run["id"]]


# -- who may, and what is refused as a whole --------------------------------------------------------------------------


def test_journals_of_other_runs_need_reach(here: Client) -> None:
    parent = here.make_run()
    child = here.as_run(parent).ok("POST", "/api/runs", {"kind": "child", "parent_id": parent["id"]})
    stranger = here.make_run()
    parts = [
        JournalPart("w", 0, POINT, parent["id"]),
        JournalPart("w", 0, POINT, stranger["id"]),
        JournalPart("w", 0, POINT, "nowhere"),
        JournalPart("w", 0, POINT),
        JournalPart("v", 0, POINT, child["id"]),
    ]
    taken = {"offset": len(POINT)}
    receipt = Reporter(here, child).deliver(parts=parts, after=[{"fact": "finalizing"}])
    assert codes(receipt["parts"]) == [taken, "not_allowed", "not_allowed", taken, taken]
    assert receipt["after"] == [{"skipped": True}]
    path = f"/api/runs/{child['id']}/deliveries"
    by_user = here.ok("POST", path, body=encode(Delivery(parts=[JournalPart("u", 0, POINT, "nowhere"), parts[1]])))
    assert codes(by_user["parts"]) == ["run_not_found", taken]
    assert here.as_run(parent).call("POST", path, body=b"{}\n").status == 200
    assert here.as_run(stranger).call("POST", path, body=b"{}\n").code == "not_allowed"


def test_a_run_that_is_not_there_is_not_found(one: Reporter, here: Client) -> None:
    body = encode(Delivery(before=[{"fact": "started"}], parts=[LogPart(LOG, 0, b"x")]))
    for each in (body, encode(Delivery(parts=[LogPart(LOG, 0, b"x")])), b"{}\n"):
        answer = here.call("POST", "/api/runs/nowhere/deliveries", body=each)
        assert (answer.status, answer.code) == (404, "run_not_found")
    here.end(one.run)
    here.ok("DELETE", one.path)
    assert one.send(parts=[LogPart(LOG, 0, b"x")]).code == "run_not_found"


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"{}", b"\n", b"[]\n", b"null\n", b"{no\n", b"\xff\xfe\n", b"[" * 100_000 + b"\n", b"{}\nmore"),
        *(b'{"parts":3}\n', b'{"parts":[3]}\n', b'{"parts":[{}]}\n', b'{"parts":[{"log":"a"}]}\n'),
        b'{"parts":[{"log":"a","offset":0,"length":5}]}\nabc',
        b'{"parts":[{"log":"a","offset":0,"length":-3}]}\nabc',
        b'{"parts":[{"log":"a","offset":0.5,"length":3}]}\nabc',
        b'{"parts":[{"log":"a","offset":99999999999999999999,"length":3}]}\nabc',
        b'{"parts":[{"log":"a","journal":"w","offset":0,"length":3}]}\nabc',
        b'{"parts":[{"journal":"w","run":7,"offset":0,"length":3}]}\nabc',
        *(b'{"attempt":0}\n', b'{"attempt":"1"}\n', b'{"before":{}}\n', b'{"after":[[]]}\n'),
        b'{"parts":[' + b",".join([b'{"log":"a","offset":0,"length":0}'] * 1001) + b"]}\n",
        b'{"x":"' + b"y" * (1 << 20) + b'"}\n',
    ],
)
def test_what_has_another_form_is_refused(one: Reporter, body: bytes) -> None:
    for sent in (body, iter([body])):  # with its length, and in chunks
        answer = one.client.call("POST", f"{one.path}/deliveries", body=sent)
        assert (answer.status, answer.code) == (400, "bad_request")
    assert one.client.ok("GET", f"{one.path}/files")["files"] == []


def test_it_is_bounded(one: Reporter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body_limit, "MOST_BYTES", 1000)
    body = encode(Delivery(parts=[LogPart(LOG, 0, b"x" * 1000)]))
    for sent in (body, iter([body[:500], body[500:]])):
        answer = one.client.call("POST", f"{one.path}/deliveries", body=sent)
        assert (answer.status, answer.code) == (413, "too_large")
    assert one.client.call("GET", f"{one.path}/deliveries").code == "method_not_allowed"


def test_the_usual_checks_hold(one: Reporter, here: Client) -> None:
    address = f"{one.path}/deliveries"
    old = {"X-Runyard-Protocol": "0"}
    assert one.client.call("POST", address, body=b"{}\n", headers=old).code == "client_too_old"
    assert one.client.call("POST", address, body=b"{}\n", headers={"X-Runyard-Protocol": "1"}).status == 200
    for token in ("wrong", f"{one.client.token}x", "run..", ""):
        headers = {"Authorization": f"Bearer {token}"}
        assert here.call("POST", address, body=b"{}\n", headers=headers).code == "not_authenticated"
    answer = one.send()
    assert answer.headers["x-runyard-version"]
    counted = here.get("/metrics").body.decode()
    assert 'runyard_requests_total{method="POST",route="/api/runs/{run_id}/deliveries",status="200"} 2.0' in counted


def test_a_body_that_never_comes_to_its_end_leaves_nothing(one: Reporter) -> None:
    parts = urlsplit(one.client.url)
    body = encode(Delivery(parts=[LogPart(LOG, 0, b"half")]))
    head = f"POST {one.path}/deliveries HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {one.client.token}\r\n"
    for declared in (len(body), len(body) + 10):
        with socket.create_connection((str(parts.hostname), parts.port), PATIENCE) as line:
            line.sendall(f"{head}Content-Length: {declared}\r\n\r\n".encode() + body[:-2])
            one.deliver()  # others do not wait for it
        assert one.client.ok("GET", f"{one.path}/files")["files"] == []


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    header=st.dictionaries(
        st.sampled_from(["attempt", "before", "parts", "after", "hold", "log", "x"]),
        st.recursive(
            st.none() | st.booleans() | st.integers(-2, 1 << 60) | st.text(max_size=8) | st.just("z" * 100_000),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(
                    st.sampled_from(["log", "journal", "offset", "length", "run", "restart", "fact", "outcome", "at"]),
                    inner,
                    max_size=5,
                )
            ),
            max_leaves=12,
        ),
        max_size=5,
    ),
    rest=st.binary(max_size=20),
)
def test_no_body_is_an_error_of_ours(one: Reporter, header: Any, rest: bytes) -> None:
    header.pop("hold", None)
    body = json.dumps(header).encode() + b"\n" + rest
    assert one.client.call("POST", f"{one.path}/deliveries", body=body).status in (200, 400)


@pytest.mark.parametrize("field", ["log", "journal", "run"])
def test_long_names_are_refused_with_a_short_title(one: Reporter, field: str) -> None:
    long = "x/" * 50_000
    part = {"log": LogPart(long, 0, b"x"), "journal": JournalPart(long, 0, POINT)}.get(field)
    receipt = one.deliver(parts=[part or JournalPart("w", 0, POINT, long)])
    assert len(json.dumps(receipt)) < 5000 or "problem" not in receipt["parts"][0]


def test_a_full_disk_is_a_problem_of_the_whole(disk_of: Callable[[str], Path], laid_sdk: Path) -> None:
    disk = disk_of("24m")
    link_sdk(disk / "home", laid_sdk)  # a server that finds no room for it gives some back
    with serve(Settings(home=disk / "home", token="t" * 20, secret="s3cret")) as served:
        reporter = Reporter(served.client, served.client.make_run())
        reporter.deliver(parts=[LogPart(LOG, 0, b"begun\n"), JournalPart("w", 0, POINT)])
        fill = disk / "fill"
        try:
            with fill.open("wb", buffering=0) as file:
                while True:
                    file.write(b"x" * 4096)
        except OSError:
            pass
        answer = reporter.send(parts=[LogPart(LOG, 6, b"x" * 100_000), JournalPart("w", len(POINT), LATER)])
        assert (answer.status, answer.code) == (507, "disk_full")
        fill.unlink()
        receipt = reporter.deliver(parts=[LogPart(LOG, 6, b"on\n"), JournalPart("w", len(POINT), LATER)])
        assert receipt["parts"] == [{"size": 9}, {"offset": len(POINT + LATER)}]
        assert served.client.get(f"{reporter.path}/files/{LOG}").body == b"begun\non\n"


# -- states and attempts ----------------------------------------------------------------------------------------------


def test_every_delivery_is_a_sign_of_life(served_on_sqlite: Served, one: Reporter) -> None:
    scheduler = served_on_sqlite.app.state.context.scheduler
    scheduler.report(one.run["id"], Fact(SILENT, reason="nothing was heard"))
    assert one.client.ok("GET", one.path)["status"] == "NotResponding"
    assert one.deliver()["status"] == "Running"
    scheduler._heartbeats._last[one.run["id"]] = time.monotonic() - heartbeats.SILENT_AFTER - 1
    one.deliver(before=[{"fact": "heartbeat"}], parts=[LogPart(LOG, 0, b"x")])
    scheduler._heartbeats.check()
    states = [state["status"] for state in one.client.ok("GET", one.path)["states"]]
    assert states == ["Running", "NotResponding", "Running"]


def test_a_former_attempt_learns_that_it_is_over(served_on_sqlite: Served) -> None:
    run = served_on_sqlite.stored_run(launch={"command": "true", "interpreter": "python"}, kind="script")
    reporter = Reporter(served_on_sqlite.client, run)
    context = served_on_sqlite.app.state.context
    reporter.deliver(attempt=1, parts=[LogPart(LOG, 0, b"first\n")])
    with context.store.database.write() as connection:
        attempts.ask(connection, run["id"], "preempted")
        attempts.begin_next(connection, run["id"])
    late = reporter.deliver(attempt=1, before=[{"fact": "started"}], parts=[LogPart(LOG, 6, b"late\n")])
    assert late["over"] is True
    assert late["status"] == "NotStarted"
    assert "held" not in reporter.deliver(attempt=1, hold=True)
    assert "over" not in reporter.deliver(attempt=2, parts=[LogPart(LOG, 0, b"second\n")])
    former = served_on_sqlite.client.get(f"{reporter.path}/files/user_logs/attempt_1/std_log.txt")
    assert former.body == b"first\nlate\n"
    assert served_on_sqlite.client.get(f"{reporter.path}/files/{LOG}").body == b"second\n"
