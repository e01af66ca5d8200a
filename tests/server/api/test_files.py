from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from tests.server.conftest import on_both_databases

if TYPE_CHECKING:
    from tests.server.conftest import Client, Served


def test_a_file_comes_back_as_it_was_sent(client: Client) -> None:
    path = client.new_run_path()
    content = bytes(range(256)) * 100
    told = client.ok("PUT", f"{path}/files/outputs/model.bin", body=content)
    digest = hashlib.sha256(content).hexdigest()
    assert told == {"name": "outputs/model.bin", "size": len(content), "hash": digest}
    answer = client.get(f"{path}/files/outputs/model.bin")
    assert (answer.status, answer.body) == (200, content)
    (listed,) = client.ok("GET", f"{path}/files")["files"]
    assert listed.pop("updated_at").endswith("Z")
    assert listed == {"name": "outputs/model.bin", "size": len(content), "hash": digest, "growing": False}


def test_an_empty_file_and_unicode_names_are_files_too(client: Client) -> None:
    path = client.new_run_path()
    for name in ("outputs/empty", "outputs/a b/ü☃#?%.txt"):
        client.ok("PUT", f"{path}/files/{quote(name)}", body=b"")
        assert client.get(f"{path}/files/{quote(name)}").body == b""
    assert [each["name"] for each in client.ok("GET", f"{path}/files?prefix=outputs/a")["files"]] == [
        "outputs/a b/ü☃#?%.txt"
    ]


@on_both_databases
def test_a_file_is_replaced(client: Client) -> None:
    path = client.new_run_path()
    for content in (b"one", b"two!"):
        client.ok("PUT", f"{path}/files/outputs/x", body=content)
    assert client.get(f"{path}/files/outputs/x").body == b"two!"
    assert len(client.ok("GET", f"{path}/files")["files"]) == 1


def test_names_that_lead_out_are_refused(client: Client) -> None:
    path = client.new_run_path()
    for name in ("..%2F..%2Fsecret", "a/../../secret", "%2Fetc%2Fpasswd"):
        for method in ("GET", "PUT"):
            assert client.call(method, f"{path}/files/{name}").code == "bad_name", (method, name)
        assert client.call("POST", f"{path}/appends/{name}?offset=0", body=b"x").code == "bad_name"


def test_a_file_that_is_not_there_is_said(client: Client) -> None:
    answer = client.get(f"{client.new_run_path()}/files/outputs/none")
    assert (answer.status, answer.code) == (404, "file_not_found")
    assert "outputs/none" in answer.json["title"]


def test_a_log_grows_and_is_read_while_it_does(client: Client) -> None:
    path = client.new_run_path()
    name = "user_logs/std_log.txt"
    assert client.ok("POST", f"{path}/appends/{name}?offset=0", body=b"one\n") == {"size": 4}
    assert client.ok("POST", f"{path}/appends/{name}?offset=4", body=b"two\n") == {"size": 8}
    assert client.get(f"{path}/files/{name}", Range="bytes=4-").body == b"two\n"
    (listed,) = client.ok("GET", f"{path}/files")["files"]
    assert (listed["size"], listed["growing"], listed["hash"]) == (8, True, None)
    assert client.ok("GET", path)["logs"] == [name]


def test_what_is_there_already_is_skipped_and_a_gap_is_refused(client: Client) -> None:
    path = client.new_run_path()
    client.ok("POST", f"{path}/appends/logs/a?offset=0", body=b"0123")
    assert client.ok("POST", f"{path}/appends/logs/a?offset=2", body=b"2345") == {"size": 6}
    assert client.ok("POST", f"{path}/appends/logs/a?offset=0", body=b"01") == {"size": 6}
    answer = client.call("POST", f"{path}/appends/logs/a?offset=7", body=b"7")
    assert (answer.status, answer.code, answer.json["detail"]["size"]) == (409, "offset_gap", 6)
    assert client.get(f"{path}/files/logs/a").body == b"012345"


def test_a_log_that_was_truncated_begins_anew(client: Client) -> None:
    path = client.new_run_path()
    client.ok("POST", f"{path}/appends/logs/a?offset=0", body=b"old and long")
    assert client.ok("POST", f"{path}/appends/logs/a?offset=0&restart=true", body=b"new") == {"size": 3}
    assert client.get(f"{path}/files/logs/a").body == b"new"
    assert client.call("POST", f"{path}/appends/logs/a?offset=3&restart=true", body=b"x").code == "bad_request"
    assert client.ok("POST", f"{path}/appends/logs/a?offset=0&restart=true", body=b"") == {"size": 0}


@on_both_databases
def test_logs_of_an_ended_run_are_whole_and_still_readable(client: Client) -> None:
    run = client.make_run()
    path = f"/api/runs/{run['id']}"
    client.ok("POST", f"{path}/appends/logs/a?offset=0", body=b"all")
    client.end(run)
    (listed,) = client.ok("GET", f"{path}/files")["files"]
    assert (listed["growing"], listed["hash"]) == (False, hashlib.sha256(b"all").hexdigest())
    assert client.get(f"{path}/files/logs/a").body == b"all"


def test_names_for_content_that_is_there_cost_no_upload(client: Client) -> None:
    path = client.new_run_path()
    digest = client.ok("PUT", f"{path}/files/outputs/a", body=b"shared")["hash"]
    other = client.new_run_path()
    wanted = {"outputs/b": digest, "outputs/c": "0" * 64, "outputs/d": "nonsense"}
    assert client.ok("POST", f"{other}/links", {"files": wanted}) == {"missing": ["outputs/c", "outputs/d"]}
    assert client.get(f"{other}/files/outputs/b").body == b"shared"
    assert len(client.ok("GET", f"{other}/files")["files"]) == 1


def test_a_line_feed_in_a_name_is_kept_and_never_splits_a_header(client: Client) -> None:
    path, name = client.new_run_path(), quote("outputs/a\r\nSet-Cookie: x\n.html")
    client.ok("PUT", f"{path}/files/{name}", body=b"<p>")
    answer = client.get(f"{path}/files/{name}")
    assert (answer.status, answer.body) == (200, b"<p>")
    assert "set-cookie" not in answer.headers
    assert client.ok("POST", f"{path}/appends/{quote(chr(10))}x?offset=0", body=b"log") == {"size": 3}


def test_names_for_a_run_that_is_not_there_are_refused(client: Client) -> None:
    assert client.call("POST", "/api/runs/nobody/links", {"files": {}}).code == "run_not_found"


@on_both_databases
def test_very_many_names_are_given_in_one_request(client: Client) -> None:
    path = client.new_run_path()
    digest = client.ok("PUT", f"{path}/files/one", body=b"1")["hash"]
    names = {f"outputs/{number}": digest for number in range(1200)}
    assert client.ok("POST", f"{path}/links", {"files": {**names, "no": "0" * 64}}) == {"missing": ["no"]}
    assert len(client.ok("GET", f"{path}/files")["files"]) == 1201


@pytest.mark.parametrize("damage", [b"", b"conte", None], ids=["emptied", "halved", "gone"])
def test_a_damaged_object_is_not_served_as_good_and_is_mended_by_the_next_upload(
    served: Served, damage: bytes | None
) -> None:
    client = served.client
    path = client.new_run_path()
    digest = client.ok("PUT", f"{path}/files/outputs/x", body=b"content")["hash"]
    place = served.settings.home / "objects" / digest[:2] / digest[2:]
    place.unlink()
    if damage is not None:
        place.write_bytes(damage)
    for asked in (f"{path}/files/outputs/x", client.ok("GET", path)["web_url"].partition(client.url)[2]):
        answer = client.get(asked.replace("?", "/files/outputs/x?"))
        assert answer.status == 500
        for said in (b"object_damaged", b"outputs/x", b"runyard doctor --deep"):
            assert said in answer.body
    assert client.ok("POST", f"{path}/links", {"files": {"outputs/y": digest}}) == {"missing": ["outputs/y"]}
    client.ok("PUT", f"{path}/files/outputs/y", body=b"content")
    assert client.get(f"{path}/files/outputs/x").body == b"content"


def test_a_page_is_shown_though_its_log_is_damaged(served: Served) -> None:
    client = served.client
    run = client.make_run()
    digest = client.ok("PUT", f"/api/runs/{run['id']}/files/logs/user_log.txt", body=b"printed")["hash"]
    (served.settings.home / "objects" / digest[:2] / digest[2:]).write_bytes(b"")
    shown = client.get(run["web_url"].partition(client.url)[2])
    assert shown.status == 200
    assert "has 0 bytes on the server" in shown.body.decode()
