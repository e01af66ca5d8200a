from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tests.server.conftest import on_both_databases

if TYPE_CHECKING:
    from tests.server.conftest import Answer, Client

EVIL = "<script>alert('x')</script>\"'&"


class Reader(HTMLParser):
    """What a browser would see: the tags, the links and the text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.links: dict[str, str] = {}
        self.text = ""
        self._href: str | None = None
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self._href = dict(attrs).get("href")

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._href is not None:
            self.links[data] = self._href
            self._href = None


def browser(client: Client) -> Client:
    return replace(client, token=None)


def address(run: dict[str, str]) -> str:
    parts = urlsplit(run["web_url"])
    return f"{parts.path}?{parts.query}"


@on_both_databases
def test_the_page_tells_the_story_of_a_run(client: Client) -> None:
    run = client.make_run(display_name="My run", tags={"lr": "0.1"})
    path = f"/api/runs/{run['id']}"
    client.ok("POST", f"{path}/appends/user_logs/std_log.txt?offset=0", body=b"epoch 1\nepoch 2\n")
    client.ok("PUT", f"{path}/files/outputs/model%20a.bin", body=b"12345")
    values = b"".join(b'["v","loss",%d,0.0,null]\n' % number for number in range(50, 0, -1))
    values += b'["v","odd",{"f":"nan"},0.0,null]\n["t","rows",{"a":[1,2]},0.0]\n'
    client.ok("POST", f"{path}/journals/w?offset=0", body=values)
    error = {
        "code": "UserError",
        "message": "boom happened",
        "exception": {
            "type": "E",
            "message": "m",
            "frames": [{"file": "t.py", "line": 3, "function": "f", "code": "x"}],
        },
        "exit": {"code": 1, "signal": None, "words": "exit code 1"},
        "help": "try again",
    }
    client.end(run, "failed", error=error)
    answer = browser(client).get(address(run))
    assert (answer.status, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    seen = Reader(answer.body.decode())
    for text in ("My run", run["id"], "Failed", "boom happened", "t.py:3 in f", "exit code 1", "try again"):
        assert text in seen.text, text
    for text in ("loss", "50", "nan", "a: 2", "epoch 2", "Running", "lr", "0.1", "5 bytes"):
        assert text in seen.text, text
    assert run["web_url"].startswith(client.url)
    link = seen.links["outputs/model a.bin"]
    assert browser(client).get(f"/runs/{link}").body == b"12345"
    assert browser(client).get(f"/runs/{seen.links['user_logs/std_log.txt']}").body == b"epoch 1\nepoch 2\n"


def test_everything_is_escaped_and_nothing_comes_from_elsewhere(client: Client) -> None:
    run = client.make_run(display_name=EVIL, description=EVIL, tags={EVIL: EVIL})
    path = f"/api/runs/{run['id']}"
    client.ok("POST", f"{path}/appends/user_logs/a?offset=0", body=EVIL.encode() + b"\xff\n")
    client.ok("PUT", f"{path}/files/outputs/%3Cscript%3E%22'.txt", body=b"x")
    client.end(run, "failed", error={"code": EVIL, "message": EVIL}, warnings=[{"source": EVIL, "message": EVIL}])
    answer = browser(client).get(address(run))
    html = answer.body.decode()
    seen = Reader(html)
    assert "script" not in seen.tags
    assert not {"link", "img", "iframe", "object", "form"} & seen.tags
    assert EVIL in seen.text
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    (style,) = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    assert base64.b64encode(hashlib.sha256(style.encode()).digest()).decode() in policy
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cache-control"] == "no-store"
    assert "http" not in html.replace("http-equiv", "")
    assert "prefers-color-scheme: dark" in style


def test_the_page_loads_itself_again_while_the_run_goes_on(client: Client) -> None:
    run = client.make_run()
    assert browser(client).get(address(run)).headers["refresh"] == "3"
    client.end(run)
    assert "refresh" not in browser(client).get(address(run)).headers


def test_a_key_opens_one_page_and_no_api(client: Client) -> None:
    run, other = client.make_run(), client.make_run()
    query = urlsplit(run["web_url"]).query
    guest = browser(client)
    for path in (f"/runs/{run['id']}", f"/runs/{run['id']}?key=", f"/runs/{run['id']}?key=wrong"):
        refused(guest.get(path))
    refused(guest.get(f"/runs/{other['id']}?{query}"))
    refused(guest.get(f"/runs/nowhere?{query}"))
    client.ok("PUT", f"/api/runs/{other['id']}/files/x", body=b"x")
    refused(guest.get(f"/runs/{other['id']}/files/x?{query}"))
    assert guest.get(f"/api/runs/{run['id']}?{query}").code == "not_authenticated"
    key = query.removeprefix("key=")
    assert replace(client, token=key).get(f"/api/runs/{run['id']}").code == "not_authenticated"
    assert guest.get(f"/runs/{run['id']}/files/..%2Fx?{query}").code == "bad_name"


def refused(answer: Answer) -> None:
    """With a page that says which link does open one."""
    assert answer.status == 403
    assert b"This link does not open the page of a run." in answer.body
    assert answer.headers["content-type"].startswith("text/html")


def test_only_the_end_of_a_long_log_is_shown(client: Client) -> None:
    run = client.make_run()
    lines = "".join(f"line {number}\n" for number in range(20_000))
    client.ok("POST", f"/api/runs/{run['id']}/appends/user_logs/std_log.txt?offset=0", body=lines.encode())
    seen = Reader(browser(client).get(address(run)).body.decode()).text
    assert "line 19999\n" in seen
    assert "line 100\n" not in seen
