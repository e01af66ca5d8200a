"""Before the server is stopped all services are: none of their processes may be left with nobody to lead it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.broken_services import deploy

if TYPE_CHECKING:
    from tests.server.conftest import Client


def test_all_services_are_stopped_when_it_answers_and_none_is_started_any_more(client: Client) -> None:
    assert client.ok("POST", "/api/services/stop") == {"stopped": 0}
    made = deploy(client).json
    assert client.ok("POST", "/api/services/stop") == {"stopped": 1}
    assert made["name"] == "mine"
    runs = client.ok("GET", "/api/runs?services=true")["runs"]
    assert not [run for run in runs if run["status"] not in ("Completed", "Failed", "Canceled")]


def test_a_run_may_not_stop_the_services_of_others(client: Client) -> None:
    run = client.make_run()
    assert client.as_run(run).call("POST", "/api/services/stop").status == 403
