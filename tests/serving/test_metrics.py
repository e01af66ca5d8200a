"""If these fail, what Prometheus reads of a service is not what happened."""

from __future__ import annotations

from pathlib import Path

from runyard.serving.metrics import Metrics


def test_the_text_has_counts_and_histograms() -> None:
    metrics = Metrics({"service": 'a"b'})
    metrics.answered("/score", 200, 0.003)
    metrics.answered("/score", 200, 99.0)
    metrics.answered("/score", 500, 0.003)
    metrics.refuse("full")
    metrics.call_seconds.add(0.001)
    text = metrics.text()
    assert 'runyard_service_requests_total{service="a\\"b",route="/score",status="200"} 2' in text
    assert 'runyard_service_request_seconds_bucket{service="a\\"b",route="/score",le="0.0025"} 0' in text
    assert 'runyard_service_request_seconds_bucket{service="a\\"b",route="/score",le="0.005"} 2' in text
    assert 'runyard_service_request_seconds_bucket{service="a\\"b",route="/score",le="+Inf"} 3' in text
    assert 'runyard_service_request_seconds_count{service="a\\"b",route="/score"} 3' in text
    assert 'runyard_service_call_seconds_bucket{service="a\\"b",le="0.001"} 1' in text
    assert 'runyard_service_refused_total{service="a\\"b",reason="full"} 1' in text
    assert "# TYPE runyard_service_request_seconds histogram" in text


def test_whichever_worker_is_asked_answers_for_all(tmp_path: Path) -> None:
    place = str(tmp_path / "status.json.metrics")
    one, other = Metrics({"worker": 0}, place), Metrics({"worker": 1}, place)
    other.answered("/score", 200, 0.1)
    other.share(100.0)
    one.share(100.0)
    assert 'runyard_service_requests_total{worker="1",route="/score",status="200"} 1' in one.text()
    assert one.text().count("runyard_service_memory_bytes{") == 2
