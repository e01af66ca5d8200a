from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.server.conftest import journal_lines, on_both_databases

from runyard.server.api import events

if TYPE_CHECKING:
    from tests.server.conftest import Client


def test_an_ended_run_tells_its_logs_then_its_state_then_no_more(client: Client) -> None:
    run = client.make_run()
    path = f"/api/runs/{run['id']}"
    client.ok("POST", f"{path}/appends/user_logs/std_log.txt?offset=0", body=b"hello\n")
    client.ok("PUT", f"{path}/files/outputs/model.bin", body=b"m")
    client.end(run)
    with client.events(run["id"]) as stream:
        (log, state) = list(stream)
    assert log == ("file", {"name": "user_logs/std_log.txt", "size": 6})
    assert state[0] == "state"
    assert state[1] == client.ok("GET", path)["states"][-1]


@on_both_databases
def test_a_run_is_followed_to_its_end(client: Client) -> None:
    run = client.make_run()
    path = f"/api/runs/{run['id']}"
    with client.events(run["id"]) as stream:
        assert next(stream)[1]["status"] == "Running"
        client.ok("POST", f"{path}/appends/user_logs/std_log.txt?offset=0", body=b"one\n")
        assert next(stream) == ("file", {"name": "user_logs/std_log.txt", "size": 4})
        client.ok("POST", f"{path}/appends/user_logs/std_log.txt?offset=4", body=b"two\n")
        assert next(stream) == ("file", {"name": "user_logs/std_log.txt", "size": 8})
        client.ok("PUT", f"{path}/files/outputs/model.bin", body=b"m")
        assert next(stream) == ("file", {"name": "outputs/model.bin", "size": 1})
        client.ok("POST", f"{path}/facts", {"fact": "finalizing"})
        assert next(stream)[1]["status"] == "Finalizing"
        client.end(run)
        rest = list(stream)
    assert [(name, said["status"]) for name, said in rest] == [("state", "Completed")]


def test_every_reader_gets_everything(client: Client) -> None:
    run = client.make_run()
    with client.events(run["id"]) as one, client.events(run["id"]) as two:
        assert next(one) == next(two)
        client.ok("POST", f"/api/runs/{run['id']}/appends/logs/a.txt?offset=0", body=b"x")
        client.end(run)
        seen: list[list[tuple[str, Any]]] = [list(one), list(two)]
    for each in seen:
        assert ("file", {"name": "logs/a.txt", "size": 1}) in each
        assert each[-1][1]["status"] == "Completed"


def test_silence_is_filled_with_comments(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "QUIET", 0.05)
    run = client.make_run()
    with client.events(run["id"]) as stream:
        assert next(stream)[0] == "state"
        assert next(stream) == ("", None)
        assert next(stream) == ("", None)


def test_a_stream_that_is_left_is_forgotten(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "QUIET", 0.05)
    run = client.make_run()

    def open_streams() -> float:
        lines = client.get("/metrics").body.decode().splitlines()
        (value,) = (line.split()[1] for line in lines if line.startswith("runyard_event_streams "))
        return float(value)

    with client.events(run["id"]) as stream:
        next(stream)
        assert open_streams() == 1
    with client.events(run["id"]) as stream:
        for _ in stream:  # each comment gives the server time to notice that the first reader has left
            if open_streams() == 1:
                break
    client.end(run)


def test_whoever_follows_a_run_hears_of_new_points(here: Client) -> None:
    run = here.make_run()
    with here.events(run["id"]) as stream:
        next(stream)
        here.ok("POST", f"/api/runs/{run['id']}/journals/w?offset=0", body=journal_lines(["v", "loss", 1.0, 0.0, 0]))
        assert next(event for event in stream if event[0]) == ("metrics", {})
