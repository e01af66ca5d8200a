"""The way in: a link works once, its session opens pages and the API, and nothing that another site causes is done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from tests.server.conftest import Client

Enter = Callable[["Client"], "Client"]


def test_a_link_signs_in_once(here: Client) -> None:
    link = urlsplit(here.ok("POST", "/api/studio/links")["url"])
    stranger = replace(here, token=None)
    answer = stranger.get(f"{link.path}?{link.query}")
    cookie = answer.headers["set-cookie"]
    assert answer.status == 200
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= {part.strip() for part in cookie.split(";")}
    assert "Max-Age=" in cookie
    again = stranger.get(f"{link.path}?{link.query}")
    assert again.status == 401
    assert b"runyard studio" in again.body
    assert "set-cookie" not in again.headers
    assert stranger.get("/studio/enter?code=nosuch").status == 401
    assert stranger.get("/studio/").status == 401


def test_a_session_opens_pages_and_the_api_until_it_is_ended(here: Client, signed_in: Enter) -> None:
    browser = signed_in(here)
    assert browser.get("/studio/").headers["location"] == "/studio/local/runs"
    assert browser.get("/").headers["location"] == "/studio/"
    assert browser.get("/studio").status == 308
    assert browser.get("/studio/local").headers["location"] == "/studio/local/runs"
    page = browser.get("/studio/local/runs")
    assert page.status == 200
    assert "script-src 'self'" in page.headers["content-security-policy"]
    assert "unsafe" not in page.headers["content-security-policy"]
    assert b"<script>" not in page.body
    assert browser.get("/api/runs").status == 200
    other = signed_in(here)
    assert other.ok("DELETE", "/api/studio/sessions/own") == {"ended": 1}
    assert other.get("/api/runs").code == "not_authenticated"
    assert browser.get("/api/runs").status == 200
    assert here.ok("DELETE", "/api/studio/sessions") == {"ended": 1}
    assert browser.get("/studio/local/runs").status == 401


def test_what_another_site_causes_is_refused(here: Client, signed_in: Enter) -> None:
    browser = signed_in(here)
    run = here.make_run()
    change = {"set_tags": {"a": "b"}}
    cookie_alone = replace(browser, headers={"Cookie": browser.headers["Cookie"]})
    assert cookie_alone.call("PATCH", f"/api/runs/{run['id']}", change).code == "not_allowed"
    for name, value in (
        ("Origin", "http://evil.example"),
        ("Origin", "http://127.0.0.1:1"),
        ("Origin", "null"),
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Site", "same-site"),
    ):
        answer = browser.call("PATCH", f"/api/runs/{run['id']}", change, headers={name: value})
        assert answer.code == "not_allowed", (name, value)
        assert browser.call("GET", "/api/runs", headers={name: value}).code == "not_allowed"
    assert here.ok("GET", f"/api/runs/{run['id']}")["tags"] == {}
    own = {"Origin": here.url, "Sec-Fetch-Site": "same-origin"}
    assert browser.call("PATCH", f"/api/runs/{run['id']}", change, headers=own).status == 200


def test_a_name_that_is_made_to_lead_here_gets_nothing(here: Client, signed_in: Enter) -> None:
    browser = signed_in(here)
    rebound = {"Host": "evil.example:7420"}
    assert browser.call("GET", "/api/runs", headers=rebound).code == "not_authenticated"
    assert browser.call("GET", "/studio/local/runs", headers=rebound).status == 401
    stranger = replace(here, token=None)
    assert stranger.call("GET", "/studio/local/runs", headers=rebound).status == 403
    link = urlsplit(here.ok("POST", "/api/studio/links")["url"])
    assert stranger.call("GET", f"{link.path}?{link.query}", headers=rebound).status == 401


def test_addresses_that_are_none_are_pages(here: Client, signed_in: Enter) -> None:
    browser = signed_in(here)
    for path in ("/studio/nosuch/runs", "/studio/local/nosuch", "/studio/local/a/b/c", "/static/x/nosuch.js"):
        answer = browser.get(path)
        assert answer.status == 404, path
        assert answer.headers["content-type"].startswith("text/html")
    assert b"&lt;b&gt;" in browser.get("/studio/%3Cb%3E/runs").body
