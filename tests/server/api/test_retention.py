"""What is dropped of old runs: shown, tried with other ages, done, and told to whoever asks for it later."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from tests.server.conftest import journal_lines, on_both_databases

if TYPE_CHECKING:
    from tests.server.conftest import Client

PATH = "/api/workspaces/local/retention"
LOG = "logs/user_log.txt"
NOTHING = {"runs": 0, "bytes": 0}


@on_both_databases
def test_logs_and_series_are_dropped_and_the_run_stays(client: Client) -> None:
    noise = random.Random(7)
    run = client.make_run()["id"]
    points = journal_lines(*(["v", "loss", noise.gauss(2, 1), 1e9 + n, n] for n in range(20_000)))
    client.ok("POST", f"/api/runs/{run}/journals/w?offset=0", body=points)
    client.ok("POST", f"/api/runs/{run}/appends/{LOG}?offset=0", body=b"printed\n")
    client.ok("POST", f"/api/runs/{run}/end", {"outcome": "completed"})
    before = client.ok("GET", PATH)
    assert before == {"ages": {"logs": "none", "series": "none"}, "due": {"logs": NOTHING, "series": NOTHING}}
    tried = client.ok("GET", f"{PATH}?logs=0h&series=0h")
    assert tried["ages"] == {"logs": "0h", "series": "0h"}
    assert tried["due"]["logs"]["runs"] >= 1
    assert client.ok("POST", PATH) == {"freed": {"logs": NOTHING, "series": NOTHING}, "more": False}
    assert client.get(f"{PATH}?logs=soon").code == "bad_setting"
    assert client.get("/api/workspaces/nowhere/retention").code == "workspace_not_found"

    for kind in ("logs", "series"):
        client.ok("PUT", f"/api/workspaces/local/settings/retention.{kind}", {"value": "0h"})
    freed = client.ok("POST", PATH)
    assert freed["freed"]["series"]["bytes"] > 50_000
    refused = client.get(f"/api/runs/{run}/files/{LOG}")
    assert (refused.status, refused.code) == (410, "log_dropped")
    details = client.ok("GET", f"/api/runs/{run}")
    assert LOG in details["dropped_logs"]
    assert LOG not in details["logs"]
    (metric,) = client.ok("GET", f"/api/runs/{run}/metrics")["metrics"][run]
    assert (metric["thinned"], metric["count"], len(metric["values"])) == (True, 20_000, 1000)
    (metric,) = client.ok("GET", f"/api/runs/{run}/metrics?buckets=5")["metrics"][run]
    assert len(metric["buckets"]) == 5
