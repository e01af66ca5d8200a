"""One request to a service: what is sent is what was given, and every other answer than a 200 is told with its body."""

from __future__ import annotations

import pytest
from tests.sdk.webservice.answering import answering

from runyard.sdk.exceptions import WebserviceException
from runyard.sdk.webservice.scoring import Answer, body_of, called, parts_of, result_of


def test_the_body_goes_as_it_is() -> None:
    with answering() as service:
        answer = called(f"{service.url}/score?x=1", b'{"data": 1}', {"Content-Type": "application/json"})
    assert answer.status == 200
    assert result_of(answer, "birds") == {"got": '{"data": 1}'}
    assert service.requests == [("/score?x=1", b'{"data": 1}', "application/json", None)]


def test_texts_and_bytes_are_taken_and_dicts_are_not() -> None:
    assert body_of("ä") == "ä".encode()
    assert body_of(bytearray(b"x")) == b"x"
    with pytest.raises(WebserviceException, match=r"not a dict: service\.run\(json\.dumps"):
        body_of({"data": 1})


def test_nobody_answers() -> None:
    with answering() as service:
        address = service.url
    with pytest.raises(WebserviceException, match=r"did not answer.*get_logs\(\)"):
        called(f"{address}/score", b"", {})


def test_a_refusal_is_told_with_status_headers_and_body() -> None:
    with pytest.raises(WebserviceException, match=r"status 502.*'x-here': 'yes'.*division by zero") as caught:
        result_of(Answer(502, {"x-here": "yes"}, b"division by zero"), "birds")
    assert caught.value.status_code == 502


def test_an_answer_that_is_no_json() -> None:
    with pytest.raises(WebserviceException, match="no JSON"):
        result_of(Answer(200, {}, b"\x89PNG"), "birds")


@pytest.mark.parametrize("address", ["", "score", "ftp://x/score"])
def test_an_address_that_is_none(address: str) -> None:
    with pytest.raises(WebserviceException, match="no address"):
        parts_of(address)
