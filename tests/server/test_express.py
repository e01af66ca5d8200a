"""If these fail, the second delivery on a connection is treated in another way than the first: it is lost, answered
wrongly, or taken from somebody who may not send it."""

from __future__ import annotations

import http.client
import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from tests.server.conftest import PATIENCE, Reporter, journal_lines

from runyard.contracts.delivery import PATIENCE as OF_REPORTERS
from runyard.contracts.delivery import Delivery, JournalPart, LogPart, Part, encode
from runyard.scheduler import states
from runyard.scheduler.heartbeats import SILENT_AFTER, SPARE
from runyard.scheduler.states import Fact
from runyard.server.express import Express
from runyard.server.pace import Pace

if TYPE_CHECKING:
    from tests.server.conftest import Client, Served

LOG = "user_logs/std_log.txt"
POINT = journal_lines(["v", "loss", 0.5, 10.0, 1])


class Line:
    """A connection on which a reporter delivers, always with the same head."""

    def __init__(self, one: Reporter) -> None:
        self._one = one
        parts = urlsplit(one.client.url)
        self.socket = socket.create_connection((str(parts.hostname), parts.port), PATIENCE)
        self._size = 0

    def request(self, body: bytes, token: str | None = None) -> bytes:
        head = f"POST {self._one.path}/deliveries HTTP/1.1\r\nHost: x\r\nX-Runyard-Protocol: 1\r\n"
        head += f"Authorization: Bearer {token or self._one.client.token}\r\nContent-Length: {len(body)}\r\n\r\n"
        return head.encode() + body

    def text(self, text: bytes, **more: Any) -> bytes:
        """The next bytes of the log, and as many points."""
        part = LogPart(LOG, self._size, text)
        self._size += len(text)
        return self.request(encode(Delivery(parts=[part], **more)))

    def answer(self) -> tuple[int, dict[str, str], list[Any]]:
        response = self.response()
        return response.status, dict(response.getheaders()), [json.loads(each) for each in response.readlines()]

    def response(self) -> http.client.HTTPResponse:
        response = http.client.HTTPResponse(self.socket)
        response.begin()
        return response


@pytest.fixture
def line(one: Reporter) -> Iterator[Line]:
    line = Line(one)
    with closing(line.socket):
        yield line


@pytest.fixture
def short_ways(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each request that could have gone the short way did."""
    seen: list[bool] = []
    takes = Express.takes

    def watched(self: Express, data: bytes) -> bool:
        seen.append(takes(self, data))
        return seen[-1]

    monkeypatch.setattr(Express, "takes", watched)
    return seen


def test_the_next_delivery_is_answered_as_the_first_was(line: Line, one: Reporter, short_ways: list[bool]) -> None:
    answers = []
    for text in (b"one\n", b"two\n", b"three\n"):
        line.socket.sendall(line.text(text))
        answers.append(line.answer())
    assert short_ways == [True, True]
    assert [status for status, _, _ in answers] == [200] * 3
    assert len({tuple(sorted(set(headers) - {"content-length"})) for _, headers, _ in answers}) == 1
    assert [receipt["parts"] for _, _, [receipt] in answers] == [[{"size": 4}], [{"size": 8}], [{"size": 14}]]
    assert len({tuple(sorted(receipt)) for _, _, [receipt] in answers}) == 1
    assert one.client.get(f"{one.path}/files/{LOG}").body == b"one\ntwo\nthree\n"


def test_each_part_is_answered_by_itself(line: Line, one: Reporter, short_ways: list[bool]) -> None:
    line.socket.sendall(line.text(b"one\n"))
    line.answer()
    parts: list[Part] = [LogPart(LOG, 99, b"late"), JournalPart("w", 0, POINT), JournalPart("w", 0, b"no record\n")]
    line.socket.sendall(line.request(encode(Delivery(parts=parts))))
    _, _, [receipt] = line.answer()
    gap, stored, bad = receipt["parts"]
    assert gap["problem"]["code"] == "offset_gap"
    assert stored == {"offset": len(POINT)}
    assert bad == {"offset": len(POINT)} or bad["problem"]["code"] == "bad_journal"
    assert short_ways == [True]


def test_requests_that_do_not_wait_are_answered_in_their_order(line: Line, one: Reporter) -> None:
    line.socket.sendall(line.text(b"one\n"))
    line.answer()
    line.socket.sendall(line.text(b"two\n"))
    for text in (b"three\n", b"four\n"):
        line.socket.sendall(line.text(text))
    sizes = [line.answer()[2][0]["parts"][0]["size"] for _ in range(3)]
    assert sizes == [8, 14, 19]
    assert one.client.get(f"{one.path}/files/{LOG}").body == b"one\ntwo\nthree\nfour\n"


def test_a_request_in_pieces_is_taken_all_the_same(line: Line, short_ways: list[bool]) -> None:
    line.socket.sendall(line.text(b"one\n"))
    line.answer()
    whole = line.text(b"two\n")
    for at in (0, len(whole) - 20, len(whole) - 2):
        following = {0: len(whole) - 20, len(whole) - 20: len(whole) - 2}.get(at, len(whole))
        line.socket.sendall(whole[at:following])
        time.sleep(0.05)  # so that they come one by one
    assert line.answer()[2][0]["parts"] == [{"size": 8}]
    line.socket.sendall(line.text(b"three\n"))
    assert line.answer()[2][0]["parts"] == [{"size": 14}]
    assert short_ways[-1]


def test_another_token_on_the_same_connection_is_asked_who_it_is(line: Line, here: Client) -> None:
    line.socket.sendall(line.text(b"one\n"))
    line.answer()
    line.socket.sendall(line.request(encode(Delivery()), token="x" * 20))
    assert line.answer()[0] == 401
    stranger = here.as_run(here.make_run()).token
    line.socket.sendall(line.request(encode(Delivery()), token=stranger))
    assert line.answer()[0] == 403


@pytest.mark.parametrize("body", [b"", b"no header", b'{"parts":1}\n', b'{"parts":[]}\nmore', b'{"attempt":0}\n'])
def test_what_has_another_form_is_refused(line: Line, body: bytes) -> None:
    line.socket.sendall(line.text(b"one\n"))
    line.answer()
    line.socket.sendall(line.request(body))
    status, _, [problem] = line.answer()
    assert (status, problem["code"]) == (400, "bad_request")
    line.socket.sendall(line.text(b"two\n"))
    assert line.answer()[2][0]["parts"] == [{"size": 8}]


def test_a_run_that_has_ended_meanwhile_is_told_so(line: Line, one: Reporter, served_on_sqlite: Served) -> None:
    line.socket.sendall(line.text(b"one\n"))
    line.answer()
    one.deliver(after=[{"fact": "ended", "outcome": "completed"}])
    line.socket.sendall(line.text(b"two\n", hold=True))
    _, _, [receipt] = line.answer()
    assert receipt["status"] == "Completed"
    assert "held" not in receipt
    assert one.client.get(f"{one.path}/files/{LOG}").body == b"one\ntwo\n"


def test_a_run_that_did_not_respond_does_again(line: Line, one: Reporter, served_on_sqlite: Served) -> None:
    line.socket.sendall(line.text(b"one\n"))
    line.answer()
    served_on_sqlite.app.state.context.scheduler.report(one.run["id"], Fact(states.SILENT))
    line.socket.sendall(line.text(b"two\n"))
    assert line.answer()[2][0]["status"] == "Running"


def _until(met: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not met():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_held_response_ends_when_somebody_watches(
    line: Line, one: Reporter, here: Client, served_on_sqlite: Served, short_ways: list[bool]
) -> None:
    pace = served_on_sqlite.app.state.context.pace
    line.socket.sendall(line.text(b"one\n"))
    line.answer()
    line.socket.sendall(line.text(b"two\n", hold=True))
    response = line.response()
    assert json.loads(response.readline())["held"] > 0
    assert short_ways == [True]
    _until(lambda: one.run["id"] in pace._held)
    assert here.get(f"/api/runs/{one.run['id']}/files").status == 200
    assert [json.loads(each) for each in response.readlines()] == [{"come": True}]
    line.socket.sendall(line.text(b"three\n", hold=True))
    assert "held" not in line.answer()[2][0]


def test_whoever_leaves_is_not_held_any_more(line: Line, one: Reporter, served_on_sqlite: Served) -> None:
    pace = served_on_sqlite.app.state.context.pace
    line.socket.sendall(line.text(b"one\n"))
    line.answer()
    line.socket.sendall(line.text(b"two\n", hold=True))
    line.response().readline()
    _until(lambda: one.run["id"] in pace._held)
    line.socket.close()
    _until(lambda: one.run["id"] not in pace._held)


def test_a_server_that_stops_still_gives_the_receipt(line: Line, served_on_sqlite: Served) -> None:
    line.socket.sendall(line.text(b"one\n"))
    line.answer()
    pace = served_on_sqlite.app.state.context.pace
    pace.closed = True  # as `Pace.close` leaves it
    try:
        line.socket.sendall(line.text(b"two\n", hold=True))
        [receipt] = line.answer()[2]
    finally:
        pace.closed = False
    assert receipt["parts"] == [{"size": 8}]
    line.socket.sendall(line.text(b"three\n"))
    assert line.answer()[2][0]["parts"] == [{"size": 14}]


def test_a_silent_run_may_stay_away_for_as_long_as_it_agreed_to_while_its_connection_is_there(
    served_on_sqlite: Served,
    line: Line,
    one: Reporter,
    short_ways: list[bool],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It would count as lost among thousands, or as alive for minutes after its node is gone."""
    monkeypatch.setattr(Pace, "quiet_seconds", lambda self, run_id, patience: float(patience))
    beats = served_on_sqlite.app.state.context.scheduler._heartbeats
    run_id = one.run["id"]

    def patience() -> float:
        return float(beats._promised.get(run_id, 0.0)) - time.monotonic()

    def until(reached: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not reached():
            assert time.monotonic() < deadline
            time.sleep(0.01)

    with one.held(patience=OF_REPORTERS):
        assert SILENT_AFTER < patience() <= OF_REPORTERS + SPARE
    until(lambda: patience() <= SILENT_AFTER)
    one.deliver()
    assert run_id not in beats._promised
    line.socket.sendall(line.text(b"a"))
    line.answer()
    line.socket.sendall(line.request(encode(Delivery(hold=True, patience=OF_REPORTERS))))
    assert json.loads(line.response().readline())["held"] == OF_REPORTERS
    assert short_ways == [True]
    assert SILENT_AFTER < patience() <= OF_REPORTERS + SPARE
    line.socket.close()
    until(lambda: patience() <= SILENT_AFTER)
