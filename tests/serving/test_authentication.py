"""If these fail, a service is open to whoever asks, or a new key needs a restart."""

from __future__ import annotations

import json
import os
import socket
import time
from pathlib import Path

import pytest
from tests.support.serving import ask, within_script

from runyard.contracts.services.access import Access, hash_of, issue_token
from runyard.contracts.services.worker import Authentication
from runyard.serving.authentication import Guard
from runyard.serving.failure import CannotServe


def write(path: Path, *keys: str) -> None:
    aside = path.with_suffix(".new")
    aside.write_text(json.dumps(Access([hash_of(key) for key in keys], "secret").as_dict()))
    os.replace(aside, path)


def bearer(text: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {text}"}


def test_keys_can_be_changed_one_after_the_other(tmp_path: Path) -> None:
    path = tmp_path / "access.json"
    write(path, "one", "two")
    with within_script(lambda data: 1, authentication={"mode": "key", "file": str(path)}) as port:
        refused = ask(port, "/score", {})
        assert refused.status == 401
        assert refused.headers["www-authenticate"] == "Bearer"
        assert ask(port, "/score", {}, bearer("three")).status == 401
        assert ask(port, "/score", {}, {"Authorization": "Basic one"}).status == 401
        assert [ask(port, "/score", {}, bearer(key)).status for key in ("one", "two", "one")] == [200] * 3
        assert ask(port, "/swagger.json").status == 401
        assert [ask(port, free).status for free in ("/", "/ready", "/metrics")] == [200] * 3
        write(path, "three", "two")
        end = time.monotonic() + 30
        while ask(port, "/score", {}, bearer("one")).status == 200:
            assert time.monotonic() < end
        assert [ask(port, "/score", {}, bearer(key)).status for key in ("two", "three")] == [200, 200]
        path.write_text("torn")
        assert ask(port, "/score", {}, bearer("two")).status == 200


def test_tokens_end(tmp_path: Path) -> None:
    path = tmp_path / "access.json"
    write(path, "one")
    now = time.time()
    with within_script(lambda data: 1, authentication={"mode": "token", "file": str(path)}) as port:
        good = issue_token("secret", "tested", now, now + 600)
        assert ask(port, "/score", {}, bearer(good)).status == 200
        for wrong in (
            issue_token("secret", "tested", now - 9, now - 1),
            issue_token("secret", "other", now, now + 600),
            issue_token("guessed", "tested", now, now + 600),
            "one",
        ):
            assert ask(port, "/score", {}, bearer(wrong)).status == 401


def test_a_service_without_its_keys_does_not_start(tmp_path: Path) -> None:
    with pytest.raises(CannotServe, match="keys"):
        Guard(Authentication("key", str(tmp_path / "nowhere.json")), "mine")


def test_a_web_page_cannot_ask_a_service_without_keys_under_a_name_of_its_own(tmp_path: Path) -> None:
    """A name that leads here makes a page of a browser on this machine its owner, which may read every answer."""
    with within_script(lambda data: 1) as port:
        for host in ("127.0.0.1", f"localhost:{port}", "LocalHost", "[::1]:80", "my.localhost", socket.gethostname()):
            assert ask(port, "/score", {}, {"Host": host}).status == 200, host
        for host in ("evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "1.2.3.4x"):
            refused = ask(port, "/score", {}, {"Host": host})
            assert refused.status == 403
            assert "authentication=key" in refused.json()["message"]
            assert ask(port, "/metrics", headers={"Host": host}).status == 403
    with within_script(lambda data: 1, allow_unauthenticated=True) as port:
        assert ask(port, "/score", {}, {"Host": "public.example"}).status == 200
    write(tmp_path / "access.json", "one")
    keys = {"mode": "key", "file": str(tmp_path / "access.json")}
    with within_script(lambda data: 1, authentication=keys) as port:
        assert ask(port, "/score", {}, {**bearer("one"), "Host": "public.example"}).status == 200
