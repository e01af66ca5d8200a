"""The table over the API: pages, groups, what columns may be, CSV, and refusals that point at the character."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING
from urllib.parse import quote

from tests.server.conftest import journal_lines

if TYPE_CHECKING:
    from tests.server.conftest import Client

TABLE = "/api/workspaces/local/table"


def test_a_table_of_runs(here: Client) -> None:
    ids = []
    for number in range(3):
        run = here.make_run(display_name=f"=cmd {number}", tags={"owner": "me"})
        lines = journal_lines(["v", "acc", 0.5 + number / 10, 1.0, None])
        here.ok("POST", f"/api/runs/{run['id']}/journals/w?offset=0", body=lines)
        ids.append(run["id"])
    here.end(here.ok("GET", f"/api/runs/{ids[0]}"), "failed")
    page = here.ok("GET", f"{TABLE}?sort=-acc&metric=acc&tag=owner&limit=2&total=true")
    assert [run["id"] for run in page["runs"]] == [ids[2], ids[1]]
    assert (page["more"], page["total"]) == (True, 3)
    assert page["runs"][0]["metrics"] == {"acc": 0.7}
    assert page["runs"][0]["tags"] == {"owner": "me"}
    rest = here.ok("GET", f"{TABLE}?sort=-acc&limit=2&offset=2")
    assert [run["id"] for run in rest["runs"]] == [ids[0]]
    found = here.ok("GET", f"{TABLE}?filter={quote('status:failed metrics.acc>0.4')}")
    assert [run["id"] for run in found["runs"]] == [ids[0]]
    groups = here.ok("GET", f"{TABLE}/groups?by=status&metric=acc")["groups"]
    assert {group["value"]: group["runs"] for group in groups} == {"Running": 2, "Failed": 1}
    names = here.ok("GET", f"{TABLE}/columns")
    assert names["columns"]["metrics"] == ["acc"]
    assert here.ok("GET", f"{TABLE}/values?field=tag.owner")["values"] == ["me"]
    table = here.get(f"{TABLE}/csv?metric=acc&tag=owner&sort=created")
    head, *cells = list(csv.reader(table.body.decode().splitlines()))
    assert head[-2:] == ["metrics.acc", "tag.owner"]
    assert [line[0] for line in cells] == ids
    assert cells[0][1] == "'=cmd 0"  # no spreadsheet reckons it
    assert cells[1][-2:] == ["0.6", "me"]


def test_a_wrong_sentence_is_pointed_at(here: Client) -> None:
    answer = here.get(f"{TABLE}?filter={quote('status:failed metrics.acc>high')}")
    assert (answer.code, answer.json["detail"]) == ("bad_query", {"position": 26, "length": 4})
    assert here.get(f"{TABLE}?sort=-").code == "bad_query"
    assert here.get(f"{TABLE}/groups?by=created").code == "bad_query"
    assert here.get("/api/workspaces/nosuch/table").code == "workspace_not_found"
    assert here.get(f"{TABLE}?filter={'(' * 30_000}").code == "bad_query"
