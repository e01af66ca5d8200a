"""Datasets by HTTP: a definition is kept, found under its name and version, and its files are told."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tests.server.conftest import on_both_databases
from tests.support.web_files import web_files

if TYPE_CHECKING:
    from tests.server.conftest import Client

PATH = "/api/workspaces/local/datasets"


def of(*urls: str, steps: list[Any] | None = None) -> dict[str, Any]:
    definition: dict[str, Any] = {"kind": "file", "sources": [{"url": url} for url in urls], "steps": steps or []}
    return {"definition": definition}


@on_both_databases
def test_a_dataset_is_saved_registered_changed_and_unregistered(client: Client) -> None:
    first = client.ok("POST", PATH, of("http://h/a"))
    assert client.ok("POST", PATH, of("http://h/a"))["id"] == first["id"], "the same definition is the same dataset"
    assert (first["name"], first["version"]) == (None, None)
    second = client.ok("POST", PATH, of("http://h/b"))
    body = {"name": "mnist", "description": "digits", "tags": {"a": "1"}}
    made = client.ok("POST", f"{PATH}/{first['id']}/registrations", body)
    assert (made["name"], made["version"], made["description"], made["tags"]) == ("mnist", 1, "digits", {"a": "1"})
    taken = client.call("POST", f"{PATH}/{second['id']}/registrations", {"name": "mnist"})
    assert (taken.status, taken.code) == (409, "dataset_exists")
    client.ok("POST", f"{PATH}/{second['id']}/registrations", {"name": "mnist", "create_new_version": True})
    assert client.ok("GET", f"{PATH}/by-name/mnist")["id"] == second["id"]
    assert client.ok("GET", f"{PATH}/by-name/mnist?version=1")["id"] == first["id"]
    assert client.ok("GET", f"{PATH}/{first['id']}")["version"] == 1
    assert [each["version"] for each in client.ok("GET", f"{PATH}/by-name/mnist/versions")["datasets"]] == [2, 1]
    assert [each["version"] for each in client.ok("GET", PATH)["datasets"]] == [2]
    changed = client.ok("PATCH", f"{PATH}/by-name/mnist/versions/1", {"tags": {"b": "2"}})
    assert (changed["tags"], changed["description"]) == ({"b": "2"}, "digits")
    assert client.ok("DELETE", f"{PATH}/by-name/mnist") == {"versions": 2}
    assert client.get(f"{PATH}/by-name/mnist").code == "dataset_not_found"
    assert client.ok("GET", f"{PATH}/{first['id']}")["name"] is None, "a run still finds it by its id"


def test_what_is_not_there_or_wrong_is_said(client: Client) -> None:
    made = client.ok("POST", PATH, of("http://h/a"))
    client.ok("POST", f"{PATH}/{made['id']}/registrations", {"name": "mnist"})
    assert client.get(f"{PATH}/by-name/mnist?version=7").json["help"] == "Its latest one is 1."
    assert "'mnist'" in client.get(f"{PATH}/by-name/mnits").json["help"]
    assert client.get(f"{PATH}/nowhere").code == "dataset_not_found"
    assert client.call("POST", PATH, of("ftp://h/a")).code == "bad_dataset"
    assert client.call("POST", f"{PATH}/{made['id']}/registrations", {"name": "a/b"}).code == "bad_dataset"
    assert client.call("POST", f"{PATH}/nowhere/registrations", {"name": "x"}).code == "dataset_not_found"


def test_files_of_web_addresses_are_listed_with_their_sizes(client: Client) -> None:
    with web_files(a=b"12345", b=b"1") as web:
        many = client.ok("POST", PATH, of(f"{web.url}/d/a", f"{web.url}/d/b"))
        found = client.ok("GET", f"{PATH}/{many['id']}/files")
        host = web.url.replace("http://", "").replace(":", "%3A")
        assert [each["path"] for each in found["files"]] == [f"/http%3A/%2F{host}/d/{name}" for name in "ab"]
        assert [each["size"] for each in found["files"]] == [5, 1]
        assert [each["url"] for each in found["files"]] == [f"{web.url}/d/a", f"{web.url}/d/b"]
        assert (found["single"], found["several"], found["next"]) == (False, True, None)
        page = client.ok("GET", f"{PATH}/{many['id']}/files?limit=1")
        rest = client.ok("GET", f"{PATH}/{many['id']}/files?limit=1&after={quote(page['next'])}")
        assert [*page["files"], *rest["files"]] == found["files"]
        assert rest["next"] is None
        names = client.ok("GET", f"{PATH}/{many['id']}/paths?limit=1")
        more = client.ok("GET", f"{PATH}/{many['id']}/paths?limit=1&after={quote(names['next'])}")
        assert [*names["paths"], *more["paths"]] == [each["path"] for each in found["files"]]
        assert more["next"] is None
        one = client.ok("POST", PATH, of(f"{web.url}/d/a"))
        web.no_head = True
        found = client.ok("GET", f"{PATH}/{one['id']}/files")
        assert (found["files"][0]["path"], found["files"][0]["size"], found["single"]) == ("/a", 5, True)
        stepped = client.ok("POST", PATH, of(f"{web.url}/d/a", steps=[{"step": "take", "count": 1}]))
        assert client.ok("GET", f"{PATH}/{stepped['id']}/files")["single"] is False


def test_an_address_that_is_gone_names_the_command_that_maps_it(client: Client, tmp_path: Path) -> None:
    with web_files() as web:
        web.refused["a"] = 403
        url = f"{web.url}/mnist/a"
        made = client.ok("POST", PATH, of(url))
        refused = client.get(f"{PATH}/{made['id']}/files")
        assert (refused.status, refused.code) == (422, "source_unreachable")
        assert refused.json["title"] == f"{url} does not give its file: 403 Forbidden."
        assert f"runyard data map {web.url}/mnist/ " in refused.json["help"]
    assert client.get(f"{PATH}/{made['id']}/files").code == "source_unreachable", "nobody listens any more"
    (tmp_path / "a").write_bytes(b"digits")
    client.ok("PUT", "/api/workspaces/local/data-map", {"prefix": f"{web.url}/mnist/", "place": str(tmp_path)})
    found = client.ok("GET", f"{PATH}/{made['id']}/files")["files"]
    assert [(each["path"], each["local"], each["url"], each["source"]) for each in found] == [
        ("/a", str(tmp_path / "a"), None, url)
    ]
    address = f"/api/workspaces/local/{found[0]['content']}"
    assert client.call("GET", address).body == b"digits"
    assert client.call("GET", address, headers={"Range": "bytes=2-"}).body == b"gits"
    assert client.get(f"{PATH}/{made['id']}/content?path=/../token").code == "file_not_found"


def test_the_folder_that_a_dataset_is(client: Client, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a").write_text("1")
    store = {"name": "whole", "kind": "folder", "settings": {"path": str(tmp_path / "data")}, "secrets": {}}
    client.ok("POST", "/api/workspaces/local/datastores", store)
    for path, folder in (("**", str(tmp_path / "data")), ("*", None)):
        definition = {"kind": "file", "sources": [{"datastore": "whole", "path": path}], "steps": []}
        made = client.ok("POST", PATH, {"definition": definition})
        found = client.ok("GET", f"{PATH}/{made['id']}/folder")
        assert (found["folder"], found["files"]) == (folder, 1 if folder else None)
        assert bool(found["mark"]) == bool(found["names"]) == bool(folder)
