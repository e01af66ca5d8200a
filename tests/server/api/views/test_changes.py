"""The stream of changes: whoever looks at a list hears of new runs, of their ends, and of the server's."""

from __future__ import annotations

import http.client
import json
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from tests.server.conftest import Client

PATIENCE = 30.0


def test_a_list_hears_of_what_happens(here: Client) -> None:
    parts = urlsplit(here.url)
    connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=PATIENCE)
    try:
        connection.request("GET", "/api/changes", headers={"Authorization": f"Bearer {here.token}"})
        response = connection.getresponse()
        assert response.readline() == b"event: begin\n"
        run = here.make_run()

        def changed() -> None:
            while line := response.readline():
                if line.startswith(b"data: ") and run["id"] in json.loads(line[6:]).get("changed", []):
                    return
            raise AssertionError("the stream has ended")

        changed()
        here.end(run)
        changed()
    finally:
        connection.close()
