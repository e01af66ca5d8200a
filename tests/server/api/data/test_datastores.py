"""Datastores by HTTP: registered without their secrets ever coming back, and files that are whole or not there."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tests.server.conftest import on_both_databases

if TYPE_CHECKING:
    from tests.server.conftest import Client

PATH = "/api/workspaces/local/datastores"
BLOB = f"{PATH}/workspaceblobstore"


def folder(name: str, path: Path, **more: Any) -> dict[str, Any]:
    return {"name": name, "kind": "folder", "settings": {"path": str(path)}, **more}


@on_both_databases
def test_a_datastore_is_registered_made_default_and_removed(client: Client, tmp_path: Path) -> None:
    assert [each["name"] for each in client.ok("GET", PATH)["datastores"]] == [
        "workspaceblobstore",
        "workspacefilestore",
    ]
    made = client.ok("POST", PATH, folder("Mine", tmp_path))
    assert (made["name"], made["kind"], made["settings"]) == ("mine", "folder", {"path": str(tmp_path)})
    assert (client.call("POST", PATH, folder("mine", tmp_path)).code) == "datastore_exists"
    client.ok("POST", PATH, folder("mine", tmp_path, overwrite=True))
    assert client.ok("PUT", f"{PATH}/mine/default")["default"] is True
    assert [each["name"] for each in client.ok("GET", PATH)["datastores"] if each["default"]] == ["mine"]
    assert client.ok("DELETE", f"{PATH}/mine") == {"datasets": []}
    assert client.get(f"{PATH}/mine").code == "datastore_not_found"
    assert client.call("DELETE", BLOB).code == "bad_datastore"
    assert client.call("POST", PATH, {"name": "x", "kind": "nonsense"}).code == "bad_datastore"


def test_no_secret_is_shown_or_stored_in_clear(client: Client, home: Path) -> None:
    body = {
        "name": "bucket",
        "kind": "s3",
        "settings": {"bucket": "b", "access_key_id": "me", "endpoint": "http://127.0.0.1:9"},
        "secrets": {"secret_access_key": "quite-a-secret"},
    }
    made = client.call("POST", PATH, body)
    assert made.json["secrets"] == ["secret_access_key"]
    answers = [made, client.get(PATH), client.get(f"{PATH}/bucket"), client.get(f"{PATH}/bucket/files")]
    assert all(b"quite-a-secret" not in each.body for each in answers)
    assert answers[-1].code == "datastore_unreachable"
    for place in home.rglob("*"):
        if place.is_file() and place.parent.name != "secrets":
            assert b"quite-a-secret" not in place.read_bytes(), place


def test_files_are_written_listed_and_read_in_ranges(client: Client, home: Path) -> None:
    for name in ("d/b", "d/a", "d.txt", "e"):
        client.ok("PUT", f"{BLOB}/content?path={name}", body=name.encode())
    listed = client.ok("GET", f"{BLOB}/files")
    assert [(each["path"], each["size"]) for each in listed["files"]] == [
        *(("d.txt", 5), ("d/a", 3), ("d/b", 3), ("e", 1))
    ]
    pages, after = [], None
    while True:
        page = client.ok("GET", f"{BLOB}/files?limit=1" + (f"&after={after}" if after else ""))
        pages += page["files"]
        after = page["next"]
        if after is None:
            break
    assert pages == listed["files"]
    assert [each["path"] for each in client.ok("GET", f"{BLOB}/files?below=d")["files"]] == ["d/a", "d/b"]
    assert client.call("GET", f"{BLOB}/content?path=d/a").body == b"d/a"
    assert client.call("GET", f"{BLOB}/content?path=d/a", headers={"Range": "bytes=1-"}).body == b"/a"
    assert (home / "datastores/local/workspaceblobstore/d/a").read_bytes() == b"d/a", "a plain folder"
    assert client.call("PUT", f"{BLOB}/content?path=e", body=b"2").code == "file_exists"
    client.ok("PUT", f"{BLOB}/content?path=e&overwrite=true", body=b"2")
    assert client.call("GET", f"{BLOB}/content?path=e").body == b"2"
    assert client.get(f"{BLOB}/content?path=nothing").code == "file_not_found"


def test_a_file_is_there_when_all_of_it_has_come(client: Client) -> None:
    begun = f"{BLOB}/content?path=big&upload=0123456789&size=10"
    assert client.ok("PUT", f"{begun}&offset=0", body=b"01234") == {"path": "big", "offset": 5, "complete": False}
    assert client.ok("GET", f"{BLOB}/files")["files"] == []
    assert client.ok("GET", f"{BLOB}/upload?path=big&upload=0123456789") == {"offset": 5}
    gap = client.call("PUT", f"{begun}&offset=7", body=b"789")
    assert (gap.code, gap.json["detail"]) == ("offset_gap", {"size": 5})
    assert client.ok("PUT", f"{begun}&offset=5", body=b"56789")["complete"] is True
    assert client.call("GET", f"{BLOB}/content?path=big").body == b"0123456789"
    many = client.call("PUT", f"{BLOB}/content?path=more&upload=0123456789&size=1", body=b"12")
    assert many.code == "content_mismatch"
    assert client.get(f"{BLOB}/content?path=more").code == "file_not_found"


def test_no_path_leads_out_of_a_datastore(client: Client) -> None:
    for path in ("..%2Ftoken", "a%2F..%2F..%2Fb", ""):
        assert client.get(f"{BLOB}/content?path={path}").code == "bad_path"
        assert client.call("PUT", f"{BLOB}/content?path={path}", body=b"x").code == "bad_path"


def test_a_folder_that_is_gone_and_a_kind_without_files_are_said(client: Client, tmp_path: Path) -> None:
    client.ok("POST", PATH, folder("gone", tmp_path / "nowhere"))
    refused = client.get(f"{PATH}/gone/files")
    assert (refused.status, refused.code) == (422, "datastore_unreachable")
    assert str(tmp_path / "nowhere") in refused.json["title"]
    client.ok("POST", PATH, {"name": "dbfs", "kind": "dbfs"})
    assert "does not read or write" in client.get(f"{PATH}/dbfs/files").json["title"]


def test_a_dataset_of_a_datastore_is_listed_and_its_removal_is_noticed(client: Client, tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    for name in ("a.csv", "b.txt"):
        (tmp_path / "d" / name).write_text(name)
    client.ok("POST", PATH, folder("mine", tmp_path))
    definition = {"kind": "file", "sources": [{"datastore": "Mine", "path": "d/*.csv"}], "steps": []}
    made = client.ok("POST", "/api/workspaces/local/datasets", {"definition": definition})
    address = f"/api/workspaces/local/datasets/{made['id']}"
    found = client.ok("GET", f"{address}/files")["files"]
    assert [(each["path"], each["local"], each["size"]) for each in found] == [
        ("/a.csv", str(tmp_path / "d" / "a.csv"), 5)
    ]
    assert client.call("GET", f"/api/workspaces/local/{found[0]['content']}").body == b"a.csv"
    assert client.get(f"{address}/content?path=/b.txt").code == "file_not_found", "the pattern does not mean it"
    client.ok("DELETE", f"{PATH}/mine")
    refused = client.get(f"{address}/files")
    assert refused.code == "datastore_not_found"
    assert "'mine'" in refused.json["title"]


def test_names_that_are_no_text_are_read_and_written(client: Client, tmp_path: Path) -> None:
    """What Linux takes as the name of a file need not be UTF-8: latin-1 of old archives, for example."""
    names = [os.fsdecode(b"\xe9"), os.fsdecode(b"\xfc/\xff"), "\u00fc"]
    client.ok("POST", PATH, folder("old", tmp_path / "old"))
    (tmp_path / "old").mkdir()
    for name in names:
        path = quote(name, safe="", errors="surrogateescape")
        assert client.ok("PUT", f"{PATH}/old/content?path={path}", body=b"1")["path"] == name
        assert (tmp_path / "old" / name).read_bytes() == b"1"
        assert client.call("GET", f"{PATH}/old/content?path={path}").body == b"1"
        (found,) = client.ok("GET", f"{PATH}/old/files?below={path}")["files"]
        assert found["path"] == name
    listed: list[str] = []
    after = ""
    while True:
        page = client.ok("GET", f"{PATH}/old/files?limit=1{after}")
        listed += [each["path"] for each in page["files"]]
        if page["next"] is None:
            break
        after = f"&after={quote(page['next'], safe='', errors='surrogateescape')}"
    assert sorted(listed) == sorted(names)
    definition = {"kind": "file", "sources": [{"datastore": "old", "path": "**"}], "steps": []}
    made = client.ok("POST", "/api/workspaces/local/datasets", {"definition": definition})
    found = client.ok("GET", f"/api/workspaces/local/datasets/{made['id']}/files")["files"]
    assert sorted(each["path"] for each in found) == sorted(f"/{name}" for name in names)
    for each in found:
        assert client.call("GET", f"/api/workspaces/local/{each['content']}").body == b"1"


def test_an_address_is_mapped_to_a_datastore(client: Client) -> None:
    client.ok("PUT", f"{BLOB}/content?path=mnist/a.gz", body=b"digits")
    place = {"prefix": "http://gone.example/exdb/", "place": "datastore:workspaceblobstore/mnist"}
    client.ok("PUT", "/api/workspaces/local/data-map", place)
    for name, answer in (("a.gz", None), ("b.gz", "source_unreachable")):
        definition = {"kind": "file", "sources": [{"url": f"http://gone.example/exdb/{name}"}], "steps": []}
        made = client.ok("POST", "/api/workspaces/local/datasets", {"definition": definition})
        files = client.call("GET", f"/api/workspaces/local/datasets/{made['id']}/files")
        if answer is not None:
            assert files.code == answer
            continue
        (found,) = files.json["files"]
        assert (found["source"], found["size"]) == ("http://gone.example/exdb/a.gz", 6)
        assert client.call("GET", f"/api/workspaces/local/{found['content']}").body == b"digits"
