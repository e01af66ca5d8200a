"""A measurement counts what was answered, and what was not."""

from __future__ import annotations

from tests.sdk.webservice.answering import answering

from runyard.sdk.model.measuring import Measurement, measured


def test_every_request_is_asked_and_counted() -> None:
    with answering() as service:
        result = measured(f"{service.url}/score", [b"1", b"2", b"3"], {}, connections=2, least=20)
    assert result.asked == result.succeeded == len(service.requests) == 20
    assert {body for _, body, _, _ in service.requests} == {b"1", b"2", b"3"}
    assert result.refused == {}
    assert result.per_second > 0
    assert result.percentile(50) is not None


def test_what_is_refused_is_counted_by_its_answer() -> None:
    with answering() as service:
        service.refuse_every = 4
        result = measured(f"{service.url}/score", [b"x"], {}, connections=1, least=8)
    assert result.succeeded == 6
    assert list(result.refused.values()) == [2]
    assert next(iter(result.refused)).startswith("500: ")


def test_nobody_answers() -> None:
    with answering() as service:
        address = service.url
    result = measured(f"{address}/score", [b"x"], {}, connections=1, least=2)
    assert (result.asked, result.succeeded) == (2, 0)
    assert "no answer" in next(iter(result.refused))
    assert (result.average, result.percentile(99)) == (None, None)


def test_percentiles() -> None:
    result = Measurement(seconds=2.0, asked=100, latencies=[float(each) for each in range(1, 101)])
    assert (result.percentile(50), result.percentile(99), result.percentile(99.9)) == (51.0, 100.0, 100.0)
    assert (result.average, result.per_second) == (50.5, 50.0)
