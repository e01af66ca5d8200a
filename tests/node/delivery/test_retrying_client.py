"""A server that is away, moved, or in trouble is waited for; a refusal is raised."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runyard.client.http import Locator
from runyard.node.delivery import retrying_client as module
from runyard.node.delivery.retrying_client import Refused, RetryingClient, ServerAway, wire_name
from runyard.node.problem import Unwanted

if TYPE_CHECKING:
    from tests.node.conftest import RunOnServer, Server

Until = Callable[[Callable[[], object], str], None]


def append(client: RetryingClient, offset: int, content: bytes) -> int:
    """One of the requests that the client is for: the size of the log afterwards."""
    path = f"/api/runs/{client.run_id}/appends/logs/x"
    return int(client.send("POST", path, body=content, params={"offset": offset})["size"])


def test_a_server_that_comes_back_elsewhere(own_server: Server, tmp_path: Path, until: Until) -> None:
    run = own_server.make_run()
    client = run.client(tmp_path)
    assert append(client, 0, b"one ") == 4
    former = own_server.client.url
    own_server.kill()
    sizes: list[int] = []
    thread = threading.Thread(target=lambda: sizes.append(append(client, 4, b"two")))
    thread.start()
    own_server.start()
    thread.join(60)
    assert sizes == [7]
    assert run.read("logs/x") == b"one two"
    assert own_server.client.url != former, "otherwise this test shows nothing"


def test_a_refusal_is_told_with_its_code(run: RunOnServer, tmp_path: Path) -> None:
    client = run.client(tmp_path)
    with pytest.raises(Refused) as refusal:
        append(client, 9, b"gap")
    assert refusal.value.code == "offset_gap"
    assert refusal.value.detail == {"size": 0}


def test_a_run_that_was_deleted_is_unwanted(run: RunOnServer, tmp_path: Path) -> None:
    client = run.client(tmp_path)
    client.fact({"fact": "ended", "outcome": "completed"})
    run.server.client.delete(f"/api/runs/{run.id}")
    with pytest.raises(Unwanted, match="deleted"):
        client.fact({"fact": "heartbeat"})


def test_a_folder_that_is_gone_ends_the_waiting(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    client = RetryingClient("r", Locator("http://127.0.0.1:9"), folder)
    timer = threading.Timer(0.2, folder.rmdir)
    timer.start()
    with pytest.raises(Unwanted, match="is gone"):
        client.fact({"fact": "heartbeat"})
    timer.join()


def test_a_caller_can_give_up(tmp_path: Path) -> None:
    class Enough(Exception):
        pass

    calls: list[int] = []

    def check() -> None:
        calls.append(1)
        if len(calls) > 3:
            raise Enough

    with pytest.raises(Enough):
        RetryingClient("r", Locator("http://127.0.0.1:9"), tmp_path, check).fact({"fact": "heartbeat"})


def test_after_the_end_the_server_is_waited_for_only_so_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "AFTER_THE_END", 0.1)
    client = RetryingClient("r", Locator("http://127.0.0.1:9"), tmp_path)
    client.nothing_more_to_come()
    with pytest.raises(ServerAway):
        client.fact({"fact": "ended", "outcome": "completed"})


def test_a_token_that_is_not_known_may_belong_to_another_server_so_it_waits(
    run: RunOnServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "AFTER_THE_END", 0.1)
    client = RetryingClient(run.id, Locator(run.server.client.url, "run.x.wrong"), tmp_path)
    client.nothing_more_to_come()
    with pytest.raises(ServerAway):
        append(client, 0, b"x")


def test_names_on_the_wire() -> None:
    assert wire_name("plain ü") == "plain ü"
    assert wire_name("bad-\udcff\udc80") == "bad-%FF%80"
