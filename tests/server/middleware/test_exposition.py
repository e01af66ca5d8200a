"""What Prometheus reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client.parser import text_string_to_metric_families
from tests.server.conftest import on_both_databases

if TYPE_CHECKING:
    from tests.server.conftest import Client


@on_both_databases
def test_prometheus_gets_requests_by_route_and_runs_by_status(client: Client) -> None:
    run = client.make_run()
    client.ok("PUT", f"/api/runs/{run['id']}/files/outputs/x", body=b"12345")
    client.ok("POST", f"/api/runs/{run['id']}/journals/w?offset=0", body=b'["v","a",1,0.0,null]\n')
    client.get("/api/nothing/at/all")
    answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    found = {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(answer.body.decode())
        for sample in family.samples
    }
    created = {"method": "POST", "route": "/api/runs", "status": "201"}
    assert found["runyard_requests_total", tuple(sorted(created.items()))] == 1
    assert found["runyard_runs", (("status", "Running"),)] == 1
    assert found["runyard_stored_bytes_total", ()] == 5 + len(b'["v","a",1,0.0,null]\n')
    assert found["runyard_journal_records_total", ()] == 1
    timed = {"method": "POST", "route": "/api/runs"}
    assert found["runyard_request_seconds_count", tuple(sorted(timed.items()))] == 1
    assert run["id"] not in answer.body.decode()
    assert 'route="other",status="404"' in answer.body.decode()
