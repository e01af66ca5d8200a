"""All of one run: what the API and the studio's page show is the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.datastructures import URL

from runyard.server.responses.run_details import details

if TYPE_CHECKING:
    from tests.server.conftest import Served


def test_the_page_shows_what_the_api_tells_and_keeps_variables_from_those_who_may_not_see_them(served: Served) -> None:
    launch = {"script": "train.py", "environment_variables": {"KEY": "secret"}}
    run = served.stored_run(kind="script", launch=launch)
    context = served.app.state.context
    whole = details(context, run["id"], URL(served.client.url + "/"), with_variables=True)
    asked = served.client.ok("GET", f"/api/runs/{run['id']}")
    assert {**asked, "account": None} == {**whole, "account": None}
    assert whole["account"]["headline"]
    less = details(context, run["id"], URL(served.client.url + "/"), with_variables=False)
    assert "secret" not in str(less["launch"])
