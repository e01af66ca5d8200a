"""Bodies on their way in: large ones, broken ones, and ones that are not what they claim to be."""

from __future__ import annotations

import hashlib
import http.client
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from tests.server.conftest import Client, Served


def test_a_file_larger_than_any_piece_goes_both_ways(client: Client) -> None:
    path = client.new_run_path()
    block = bytes(range(256)) * 4096
    seen = hashlib.sha256(block * 9 + b"end").hexdigest()

    def body() -> Iterator[bytes]:
        yield from [block] * 9
        yield b"end"

    told = client.ok("PUT", f"{path}/files/outputs/big", body=body())
    assert (told["hash"], told["size"]) == (seen, 9 * len(block) + 3)
    assert hashlib.sha256(client.get(f"{path}/files/outputs/big").body).hexdigest() == seen


def test_bytes_that_are_not_what_was_told_are_refused(client: Client) -> None:
    path = client.new_run_path()
    told = {"X-Runyard-Hash": hashlib.sha256(b"other").hexdigest()}
    answer = client.call("PUT", f"{path}/files/outputs/x", body=b"this", headers=told)
    assert (answer.status, answer.code) == (422, "content_mismatch")
    assert client.ok("GET", f"{path}/files")["files"] == []
    assert client.call("PUT", f"{path}/files/x", body=b"", headers={"X-Runyard-Hash": "no"}).code == "bad_request"


def test_an_upload_that_breaks_off_leaves_nothing(served: Served) -> None:
    client = served.client
    path = client.new_run_path()
    host = client.url.removeprefix("http://")
    connection = http.client.HTTPConnection(host, timeout=30)
    connection.putrequest("PUT", f"{path}/files/outputs/half")
    connection.putheader("Authorization", f"Bearer {client.token}")
    connection.putheader("Content-Length", str(10 << 20))
    connection.endheaders(bytes(3 << 20))
    incoming = served.settings.home / "objects" / "incoming"
    wait_until(lambda: list(incoming.iterdir()), "the server to take the upload in")
    connection.close()
    wait_until(lambda: not list(incoming.iterdir()), "the server to leave nothing of it")
    assert client.ok("GET", f"{path}/files")["files"] == []


def test_a_long_append_is_taken_in_whole(client: Client) -> None:
    path = client.new_run_path()
    content = b"line of a log\n" * 300_000
    assert client.ok("POST", f"{path}/appends/logs/a?offset=0", body=content) == {"size": len(content)}
    assert client.get(f"{path}/files/logs/a").body == content
