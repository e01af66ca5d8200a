"""What the server reads of a service's numbers."""

from __future__ import annotations

from runyard.server.service_calls import numbers

TEXT = """
# HELP runyard_service_requests_total Requests
runyard_service_requests_total{service="a",worker="0",route="/score",status="200"} 7
runyard_service_requests_total{service="a",worker="1",route="/score",status="500"} 2
runyard_service_requests_total{service="a",worker="1",route="/metrics",status="200"} 50
runyard_service_requests_total{service="a",worker="1",route="/",status="200"} 50
runyard_service_request_seconds_bucket{service="a",worker="0",route="/score",le="0.1"} 3
runyard_service_request_seconds_bucket{service="a",worker="1",route="/score",le="0.1"} 1
runyard_service_request_seconds_bucket{service="a",worker="0",route="/score",le="+Inf"} 7
runyard_service_request_seconds_sum{service="a",worker="0",route="/score"} 1.5
runyard_service_request_seconds_count{service="a",worker="0",route="/score"} 7
runyard_service_memory_bytes{service="a",worker="0"} 1000
runyard_service_memory_bytes{service="a",worker="1"} 500
not a sample
"""


def test_workers_are_added_up_and_looks_do_not_count() -> None:
    assert numbers(TEXT) == {
        "requests": 9.0,
        "errors": 2.0,
        "seconds": 1.5,
        "answers": 7.0,
        "le 0.1": 4.0,
        "le +Inf": 7.0,
        "memory_bytes": 1500.0,
    }


def test_a_service_that_has_counted_nothing() -> None:
    assert numbers("") == {"requests": 0.0, "errors": 0.0, "seconds": 0.0, "answers": 0.0}
