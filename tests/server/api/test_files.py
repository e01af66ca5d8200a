from __future__ import annotations

import hashlib
import http.client
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

if TYPE_CHECKING:
    from tests.server.conftest import Client, Served


def path_of(client: Client) -> str:
    return f"/api/runs/{client.make_run()['id']}"


def test_a_file_comes_back_as_it_was_sent(client: Client) -> None:
    path = path_of(client)
    content = bytes(range(256)) * 100
    told = client.ok("PUT", f"{path}/files/outputs/model.bin", body=content)
    digest = hashlib.sha256(content).hexdigest()
    assert told == {"name": "outputs/model.bin", "size": len(content), "hash": digest}
    answer = client.get(f"{path}/files/outputs/model.bin")
    assert (answer.status, answer.body) == (200, content)
    (listed,) = client.ok("GET", f"{path}/files")["files"]
    assert listed.pop("updated_at").endswith("Z")
    assert listed == {"name": "outputs/model.bin", "size": len(content), "hash": digest, "growing": False}


def test_a_file_larger_than_any_piece_goes_both_ways(client: Client) -> None:
    path = path_of(client)
    block = bytes(range(256)) * 4096
    seen = hashlib.sha256(block * 9 + b"end").hexdigest()

    def body() -> Iterator[bytes]:
        yield from [block] * 9
        yield b"end"

    told = client.ok("PUT", f"{path}/files/outputs/big", body=body())
    assert (told["hash"], told["size"]) == (seen, 9 * len(block) + 3)
    assert hashlib.sha256(client.get(f"{path}/files/outputs/big").body).hexdigest() == seen


def test_an_empty_file_and_unicode_names_are_files_too(client: Client) -> None:
    path = path_of(client)
    for name in ("outputs/empty", "outputs/a b/ü☃#?%.txt"):
        client.ok("PUT", f"{path}/files/{quote(name)}", body=b"")
        assert client.get(f"{path}/files/{quote(name)}").body == b""
    assert [each["name"] for each in client.ok("GET", f"{path}/files?prefix=outputs/a")["files"]] == [
        "outputs/a b/ü☃#?%.txt"
    ]


def test_a_file_is_replaced(client: Client) -> None:
    path = path_of(client)
    for content in (b"one", b"two!"):
        client.ok("PUT", f"{path}/files/outputs/x", body=content)
    assert client.get(f"{path}/files/outputs/x").body == b"two!"
    assert len(client.ok("GET", f"{path}/files")["files"]) == 1


def test_bytes_that_are_not_what_was_told_are_refused(client: Client) -> None:
    path = path_of(client)
    told = {"X-Runyard-Hash": hashlib.sha256(b"other").hexdigest()}
    answer = client.call("PUT", f"{path}/files/outputs/x", body=b"this", headers=told)
    assert (answer.status, answer.code) == (422, "content_mismatch")
    assert client.ok("GET", f"{path}/files")["files"] == []
    assert client.call("PUT", f"{path}/files/x", body=b"", headers={"X-Runyard-Hash": "no"}).code == "bad_request"


def test_names_that_lead_out_are_refused(client: Client) -> None:
    path = path_of(client)
    for name in ("..%2F..%2Fsecret", "a/../../secret", "%2Fetc%2Fpasswd"):
        for method in ("GET", "PUT"):
            assert client.call(method, f"{path}/files/{name}").code == "bad_name", (method, name)
        assert client.call("POST", f"{path}/appends/{name}?offset=0", body=b"x").code == "bad_name"


def test_a_file_that_is_not_there_is_said(client: Client) -> None:
    answer = client.get(f"{path_of(client)}/files/outputs/none")
    assert (answer.status, answer.code) == (404, "file_not_found")
    assert "outputs/none" in answer.json["title"]


def test_an_upload_that_breaks_off_leaves_nothing(served: Served) -> None:
    client = served.client
    path = path_of(client)
    host = client.url.removeprefix("http://")
    connection = http.client.HTTPConnection(host, timeout=30)
    connection.putrequest("PUT", f"{path}/files/outputs/half")
    connection.putheader("Authorization", f"Bearer {client.token}")
    connection.putheader("Content-Length", str(10 << 20))
    connection.endheaders(bytes(3 << 20))
    connection.close()
    incoming = served.settings.home / "objects" / "incoming"
    deadline = threading.Event()
    for _ in range(600):
        if not any(incoming.iterdir()):
            break
        deadline.wait(0.05)
    assert list(incoming.iterdir()) == []
    assert client.ok("GET", f"{path}/files")["files"] == []


def test_ranges_are_answered(client: Client) -> None:
    path = f"{path_of(client)}/files/outputs/x"
    client.ok("PUT", path, body=b"0123456789")
    cases = {
        "bytes=0-": (200, b"0123456789", None),
        "bytes=4-": (206, b"456789", "bytes 4-9/10"),
        "bytes=2-4": (206, b"234", "bytes 2-4/10"),
        "bytes=8-99": (206, b"89", "bytes 8-9/10"),
        "bytes=-3": (206, b"789", "bytes 7-9/10"),
        "bytes=-99": (200, b"0123456789", None),
        "bytes=10-": (200, b"", None),
        "bytes=10-20": (200, b"", None),
    }
    for asked, (status, content, told) in cases.items():
        answer = client.get(path, Range=asked)
        assert (answer.status, answer.body, answer.headers.get("content-range")) == (status, content, told), asked
        assert answer.headers["content-length"] == str(len(content))
    for asked in ("bytes=11-", "bytes=4-2", "bytes=-", "bytes=1-2,4-5", "lines=1-2"):
        answer = client.get(path, Range=asked)
        assert (answer.status, answer.code) == (416, "bad_range"), asked
        assert answer.headers["content-range"] == "bytes */10"
        assert answer.json["detail"]["size"] == 10


def test_a_browser_never_runs_what_a_run_has_written(client: Client) -> None:
    path = path_of(client)
    kinds = {
        "user_logs/std_log.txt": ("text/plain; charset=utf-8", False),
        "logs/page.html": ("text/plain; charset=utf-8", False),
        "outputs/notes.txt": ("text/plain; charset=utf-8", False),
        "outputs/plot.png": ("image/png", False),
        "outputs/page.html": ("text/html; charset=utf-8", True),
        "outputs/drawing.svg": ("image/svg+xml", True),
        "outputs/model.bin": ("application/octet-stream", True),
        "outputs/table.csv.gz": ("application/octet-stream", True),
        "outputs/no_ending": ("application/octet-stream", True),
    }
    for name, (kind, attached) in kinds.items():
        client.ok("PUT", f"{path}/files/{name}", body=b"<script>alert(1)</script>")
        answer = client.get(f"{path}/files/{name}")
        assert answer.headers["content-type"] == kind
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["content-security-policy"].startswith("sandbox;")
        assert answer.headers.get("content-disposition", "").startswith("attachment") is attached, name


def test_a_log_grows_and_is_read_while_it_does(client: Client) -> None:
    path = path_of(client)
    name = "user_logs/std_log.txt"
    assert client.ok("POST", f"{path}/appends/{name}?offset=0", body=b"one\n") == {"size": 4}
    assert client.ok("POST", f"{path}/appends/{name}?offset=4", body=b"two\n") == {"size": 8}
    assert client.get(f"{path}/files/{name}", Range="bytes=4-").body == b"two\n"
    (listed,) = client.ok("GET", f"{path}/files")["files"]
    assert (listed["size"], listed["growing"], listed["hash"]) == (8, True, None)
    assert client.ok("GET", path)["logs"] == [name]


def test_what_is_there_already_is_skipped_and_a_gap_is_refused(client: Client) -> None:
    path = path_of(client)
    client.ok("POST", f"{path}/appends/logs/a?offset=0", body=b"0123")
    assert client.ok("POST", f"{path}/appends/logs/a?offset=2", body=b"2345") == {"size": 6}
    assert client.ok("POST", f"{path}/appends/logs/a?offset=0", body=b"01") == {"size": 6}
    answer = client.call("POST", f"{path}/appends/logs/a?offset=7", body=b"7")
    assert (answer.status, answer.code, answer.json["detail"]["size"]) == (409, "offset_gap", 6)
    assert client.get(f"{path}/files/logs/a").body == b"012345"


def test_a_log_that_was_truncated_begins_anew(client: Client) -> None:
    path = path_of(client)
    client.ok("POST", f"{path}/appends/logs/a?offset=0", body=b"old and long")
    assert client.ok("POST", f"{path}/appends/logs/a?offset=0&restart=true", body=b"new") == {"size": 3}
    assert client.get(f"{path}/files/logs/a").body == b"new"
    assert client.call("POST", f"{path}/appends/logs/a?offset=3&restart=true", body=b"x").code == "bad_request"
    assert client.ok("POST", f"{path}/appends/logs/a?offset=0&restart=true", body=b"") == {"size": 0}


def test_a_long_append_is_taken_in_whole(client: Client) -> None:
    path = path_of(client)
    content = b"line of a log\n" * 300_000
    assert client.ok("POST", f"{path}/appends/logs/a?offset=0", body=content) == {"size": len(content)}
    assert client.get(f"{path}/files/logs/a").body == content


def test_logs_of_an_ended_run_are_whole_and_still_readable(client: Client) -> None:
    run = client.make_run()
    path = f"/api/runs/{run['id']}"
    client.ok("POST", f"{path}/appends/logs/a?offset=0", body=b"all")
    client.end(run)
    (listed,) = client.ok("GET", f"{path}/files")["files"]
    assert (listed["growing"], listed["hash"]) == (False, hashlib.sha256(b"all").hexdigest())
    assert client.get(f"{path}/files/logs/a").body == b"all"


def test_names_for_content_that_is_there_cost_no_upload(client: Client) -> None:
    path = path_of(client)
    digest = client.ok("PUT", f"{path}/files/outputs/a", body=b"shared")["hash"]
    other = path_of(client)
    wanted = {"outputs/b": digest, "outputs/c": "0" * 64, "outputs/d": "nonsense"}
    assert client.ok("POST", f"{other}/links", {"files": wanted}) == {"missing": ["outputs/c", "outputs/d"]}
    assert client.get(f"{other}/files/outputs/b").body == b"shared"
    assert len(client.ok("GET", f"{other}/files")["files"]) == 1


def test_a_line_feed_in_a_name_is_kept_and_never_splits_a_header(client: Client) -> None:
    path, name = path_of(client), quote("outputs/a\r\nSet-Cookie: x\n.html")
    client.ok("PUT", f"{path}/files/{name}", body=b"<p>")
    answer = client.get(f"{path}/files/{name}")
    assert (answer.status, answer.body) == (200, b"<p>")
    assert "set-cookie" not in answer.headers
    assert client.ok("POST", f"{path}/appends/{quote(chr(10))}x?offset=0", body=b"log") == {"size": 3}


def test_a_range_of_absurd_length_is_refused(client: Client) -> None:
    path = path_of(client)
    client.ok("PUT", f"{path}/files/a", body=b"hello")
    for asked in ("bytes=" + "9" * 5000 + "-", "bytes=-" + "9" * 5000):
        assert client.get(f"{path}/files/a", Range=asked).code == "bad_range"
    assert client.get(f"{path}/files/a", Range="bytes=1-" + "9" * 20).body == b"ello"


def test_names_for_a_run_that_is_not_there_are_refused(client: Client) -> None:
    assert client.call("POST", "/api/runs/nobody/links", {"files": {}}).code == "run_not_found"


def test_very_many_names_are_given_in_one_request(client: Client) -> None:
    path = path_of(client)
    digest = client.ok("PUT", f"{path}/files/one", body=b"1")["hash"]
    names = {f"outputs/{number}": digest for number in range(1200)}
    assert client.ok("POST", f"{path}/links", {"files": {**names, "no": "0" * 64}}) == {"missing": ["no"]}
    assert len(client.ok("GET", f"{path}/files")["files"]) == 1201


def test_the_hash_of_a_whole_file_is_told_for_clients_to_check(client: Client) -> None:
    path = path_of(client)
    client.ok("PUT", f"{path}/files/outputs/x", body=b"content")
    digest = hashlib.sha256(b"content").hexdigest()
    assert client.get(f"{path}/files/outputs/x").headers["x-runyard-hash"] == digest
    assert client.get(f"{path}/files/outputs/x", Range="bytes=3-").headers["x-runyard-hash"] == digest
    client.ok("POST", f"{path}/appends/logs/a?offset=0", body=b"grows")
    assert "x-runyard-hash" not in client.get(f"{path}/files/logs/a").headers


@pytest.mark.parametrize("damage", [b"", b"conte", None], ids=["emptied", "halved", "gone"])
def test_a_damaged_object_is_not_served_as_good_and_is_mended_by_the_next_upload(
    served: Served, damage: bytes | None
) -> None:
    client = served.client
    path = path_of(client)
    digest = client.ok("PUT", f"{path}/files/outputs/x", body=b"content")["hash"]
    place = served.settings.home / "objects" / digest[:2] / digest[2:]
    place.unlink()
    if damage is not None:
        place.write_bytes(damage)
    for asked in (f"{path}/files/outputs/x", client.ok("GET", path)["web_url"].partition(client.url)[2]):
        answer = client.get(asked.replace("?", "/files/outputs/x?"))
        assert (answer.status, answer.code) == (500, "object_damaged")
        assert "outputs/x" in answer.json["title"]
        assert "runyard doctor --deep" in answer.json["help"]
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
