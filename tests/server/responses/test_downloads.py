"""Files on their way to clients: ranges, hashes, and headers that keep browsers from running them."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.server.conftest import Client


def test_ranges_are_answered(client: Client) -> None:
    path = f"{client.new_run_path()}/files/outputs/x"
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
    path = client.new_run_path()
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


def test_a_range_of_absurd_length_is_refused(client: Client) -> None:
    path = client.new_run_path()
    client.ok("PUT", f"{path}/files/a", body=b"hello")
    for asked in ("bytes=" + "9" * 5000 + "-", "bytes=-" + "9" * 5000):
        assert client.get(f"{path}/files/a", Range=asked).code == "bad_range"
    assert client.get(f"{path}/files/a", Range="bytes=1-" + "9" * 20).body == b"ello"


def test_the_hash_of_a_whole_file_is_told_for_clients_to_check(client: Client) -> None:
    path = client.new_run_path()
    client.ok("PUT", f"{path}/files/outputs/x", body=b"content")
    digest = hashlib.sha256(b"content").hexdigest()
    assert client.get(f"{path}/files/outputs/x").headers["x-runyard-hash"] == digest
    assert client.get(f"{path}/files/outputs/x", Range="bytes=3-").headers["x-runyard-hash"] == digest
    client.ok("POST", f"{path}/appends/logs/a?offset=0", body=b"grows")
    assert "x-runyard-hash" not in client.get(f"{path}/files/logs/a").headers
