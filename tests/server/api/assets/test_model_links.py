"""A link opens the one file that it was made for, for a while, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from runyard.server.api.assets import model_links

if TYPE_CHECKING:
    from tests.server.conftest import Client

PATH = "/api/workspaces/local/models"


def linked(client: Client) -> dict[str, str]:
    """The paths and queries of the links to a model's files."""
    run = client.make_run()
    for name in ("model/a.bin", "model/b.bin"):
        client.call("PUT", f"/api/runs/{run['id']}/files/{name}", body=name.encode())
    client.ok("POST", PATH, {"name": "m", "run_id": run["id"], "path": "model"})
    made = client.ok("GET", f"{PATH}/m/latest/links")["links"]
    return {path: f"{urlsplit(link).path}?{urlsplit(link).query}" for path, link in made.items()}


def test_a_link_opens_its_file_without_a_token_and_in_ranges(here: Client) -> None:
    links = linked(here)
    anybody = type(here)(here.url, None)
    assert anybody.get(links["model/a.bin"]).body == b"model/a.bin"
    part = anybody.get(links["model/a.bin"], Range="bytes=6-")
    assert (part.status, part.body) == (206, b"a.bin")
    assert part.headers["cache-control"] == "no-store"
    other = links["model/a.bin"].replace("a.bin", "b.bin")
    for wrong in (other, links["model/a.bin"][:-2], "/models/local/m/1/model/a.bin"):
        assert anybody.get(wrong).code == "not_allowed"
    here.ok("DELETE", f"{PATH}/m/1")
    assert anybody.get(links["model/a.bin"]).code == "model_not_found"


def test_a_link_that_is_too_old_opens_nothing(here: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_links, "SECONDS", -1)
    assert here.get(linked(here)["model/a.bin"]).code == "not_allowed"
