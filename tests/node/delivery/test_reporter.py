"""A delivery is sent until it is answered; a refusal of one part harms no other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.support.delivery_server import DeliveryServer, problem, server

from runyard.client.http import ClientProblem
from runyard.contracts.delivery import Delivery, JournalPart, LogPart, Part
from runyard.node.delivery import retrying_client
from runyard.node.delivery.reporter import Reporter
from runyard.node.delivery.retrying_client import Refused, RetryingClient
from runyard.node.delivery.wake import Wake
from runyard.node.problem import Unwanted

__all__ = ["server"]

PARTS: list[Part] = [LogPart("a", 0, b"1"), LogPart("b", 0, b"22"), JournalPart("1", 0, b"[]\n", "other")]


@pytest.fixture
def client(server: DeliveryServer, tmp_path: Path) -> RetryingClient:
    return RetryingClient("run-1", server.locator, tmp_path, attempt=3)


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is retried is retried at once."""
    monkeypatch.setattr(RetryingClient, "_wait", lambda self, seconds: None)


def codes(answers: list[Any]) -> list[Any]:
    return [answer.code if isinstance(answer, Refused) else answer for answer in answers]


def test_a_delivery_is_one_request(client: RetryingClient, server: DeliveryServer) -> None:
    server.pace = 2.5
    receipt = Reporter(client).deliver(Delivery([{"fact": "started"}], [*PARTS], [{"fact": "ended"}]))
    assert (receipt.parts, receipt.complete, receipt.pace, receipt.held) == ([1, 2, 3], True, 2.5, 0.0)
    assert [fact["fact"] for fact in server.facts] == ["started", "ended"]
    assert server.journals == {("other", "1"): b"[]\n"}
    assert server.targets == ["/api/runs/run-1/deliveries"]
    assert server.deliveries[0].attempt == 3


def test_a_refused_part_is_told_and_what_comes_after_is_not_reported(
    client: RetryingClient, server: DeliveryServer
) -> None:
    server.bad = lambda part: problem("bad_name", 400) if part == PARTS[0] else None
    receipt = Reporter(client).deliver(Delivery(parts=[*PARTS], after=[{"fact": "ended"}]))
    assert codes(receipt.parts) == ["bad_name", 2, 3]
    assert not receipt.complete
    assert server.facts == []
    assert len(server.deliveries) == 1


def test_a_gap_is_told_with_what_the_server_has(client: RetryingClient) -> None:
    receipt = Reporter(client).deliver(Delivery(parts=[LogPart("a", 9, b"x")]))
    [answer] = receipt.parts
    assert isinstance(answer, Refused)
    assert (answer.code, answer.detail) == ("offset_gap", {"size": 0})


@pytest.mark.parametrize("code", ["disk_full", "database_damaged"])
def test_what_the_server_may_take_later_is_sent_again(
    client: RetryingClient, server: DeliveryServer, code: str
) -> None:
    trouble = [problem(code, 507)] * 20
    server.bad = lambda part: trouble.pop() if trouble and part == PARTS[1] else None
    assert Reporter(client).deliver(Delivery(parts=[*PARTS])).parts == [1, 2, 3]
    assert server.files == {"a": b"1", "b": b"22"}


def test_a_part_at_which_the_server_fails_again_and_again_is_given_up(
    client: RetryingClient, server: DeliveryServer
) -> None:
    server.bad = lambda part: problem("internal", 500) if part == PARTS[1] else None
    receipt = Reporter(client).deliver(Delivery([{"fact": "started"}], [*PARTS]))
    assert codes(receipt.parts) == [1, "internal", 3]
    assert len(server.deliveries) == retrying_client.TRIES_AT_A_FAULT


def test_a_fact_at_which_the_server_fails_is_not_given_up(client: RetryingClient, server: DeliveryServer) -> None:
    trouble = [problem("internal", 500)] * 50
    server.bad_fact = lambda fact: trouble.pop() if trouble else None
    assert Reporter(client).deliver(Delivery([{"fact": "started"}], [*PARTS])).parts == [1, 2, 3]
    assert server.facts == [{"fact": "started"}]


def test_a_refused_fact_is_logged(
    client: RetryingClient, server: DeliveryServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.bad_fact = lambda fact: problem("bad_request", 400)
    assert Reporter(client).deliver(Delivery([{"fact": "stirred"}])).parts == []
    assert "refused the fact 'stirred'" in capsys.readouterr().out


def test_a_delivery_at_which_the_server_fails_as_a_whole_is_taken_apart(
    client: RetryingClient, server: DeliveryServer
) -> None:
    def fault(delivery: Delivery) -> Any:
        return problem("internal", 500) if PARTS[0] in delivery.parts else None

    server.faults = [fault] * 100
    receipt = Reporter(client).deliver(Delivery([{"fact": "started"}], [*PARTS], [{"fact": "ended"}]))
    assert codes(receipt.parts) == ["internal", 2, 3]
    assert not receipt.complete
    assert server.facts == [{"fact": "started"}]


def test_one_that_is_too_large_for_something_on_the_way_goes_in_pieces(
    client: RetryingClient, server: DeliveryServer
) -> None:
    server.faults = [lambda delivery: {"status": 413} if len(delivery.parts) > 1 else None] * 100
    reporter = Reporter(client)
    receipt = reporter.deliver(Delivery([{"fact": "started"}], [*PARTS], [{"fact": "ended"}]))
    assert (receipt.parts, receipt.complete) == ([1, 2, 3], True)
    assert [fact["fact"] for fact in server.facts] == ["started", "ended"]
    assert reporter.too_large


@pytest.mark.parametrize("status", [404, 405])
def test_an_older_server_is_waited_for(client: RetryingClient, server: DeliveryServer, status: int) -> None:
    code = {404: "not_found", 405: "method_not_allowed"}[status]
    server.faults = [lambda delivery: problem(code, status)] * 20
    assert Reporter(client).deliver(Delivery(parts=[*PARTS])).parts == [1, 2, 3]


def test_a_run_that_was_deleted_is_unwanted(client: RetryingClient, server: DeliveryServer) -> None:
    server.faults = [lambda delivery: problem("run_not_found", 404)]
    with pytest.raises(Unwanted, match="deleted"):
        Reporter(client).deliver(Delivery(parts=[*PARTS]))


def test_a_program_that_is_no_server_of_ours_is_not_believed(
    client: RetryingClient, server: DeliveryServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers: list[Any] = [{"hello": 1}, [1], {"parts": []}]
    real = server.take
    monkeypatch.setattr(server, "take", lambda delivery: answers.pop() if answers else real(delivery))
    assert Reporter(client).deliver(Delivery(parts=[*PARTS])).parts == [1, 2, 3]


def test_a_proxy_that_holds_the_receipt_back_is_not_asked_to_hold_any_more(
    client: RetryingClient, server: DeliveryServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.held, server.buffers = 0.2, True
    reporter = Reporter(client)
    reporter.deliver(Delivery(hold=True))
    wake = Wake()
    if reporter.held:
        reporter.wait(60.0, wake.fileno())
    wake.close()
    reporter.deliver(Delivery(hold=True))
    assert [delivery.hold for delivery in server.deliveries] == [True, False]
    assert "delays its responses" in capsys.readouterr().out


def test_a_problem_without_a_status_is_final(client: RetryingClient, server: DeliveryServer) -> None:
    document = problem("bad_name", 400)
    del document["status"]
    server.bad = lambda part: document
    [answer] = Reporter(client).deliver(Delivery(parts=[PARTS[0]])).parts
    assert isinstance(answer, Refused)
    assert not isinstance(answer, ClientProblem)
