"""Journals in, metrics out: the two routes are tested together, as each is the proof of the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.server.conftest import journal_lines, on_both_databases

if TYPE_CHECKING:
    from tests.server.conftest import Client


def test_what_was_logged_is_read_back(client: Client) -> None:
    run = client.make_run()
    path = f"/api/runs/{run['id']}"
    body = journal_lines(
        ["v", "loss", 0.5, 10.0, 1],
        ["v", "loss", {"f": "nan"}, 11.0, 2],
        ["d", "loss", "how bad it is"],
        ["l", "list", [1, 2, 3], 12.0],
        ["t", "table", {"a": [1], "b": ["x"]}, 13.0],
        ["a", "plot", "azureml.v2.image", "plot.png", 14.0],
        ["g", {"stage": "final"}],
        ["p", {"seed": "7"}],
        ["f", "outputs/x", "spooled"],
        ["e", "completed", None],
    )
    assert client.ok("POST", f"{path}/journals/host.1-a?offset=0", body=body) == {"offset": len(body)}
    found = {each["name"]: each for each in client.ok("GET", f"{path}/metrics")["metrics"][run["id"]]}
    assert found["loss"]["values"] == [0.5, {"f": "nan"}]
    assert found["loss"]["steps"] == [1, 2]
    assert found["loss"]["times"] == [10.0, 11.0]
    assert found["loss"]["description"] == "how bad it is"
    assert found["list"]["values"] == [1, 2, 3]
    assert found["table"]["columns"] == {"a": [1], "b": ["x"]}
    assert (found["plot"]["kind"], found["plot"]["values"]) == ("file", ["plot.png"])
    told = client.ok("GET", path)
    assert (told["tags"], told["properties"], told["status"]) == ({"stage": "final"}, {"seed": "7"}, "Running")


@on_both_databases
def test_a_batch_sent_twice_counts_once_and_a_gap_is_refused(client: Client) -> None:
    run = client.make_run()
    path = f"/api/runs/{run['id']}"
    first, second = journal_lines(["v", "a", 1, 0.0, None]), journal_lines(["v", "a", 2, 0.0, None])
    for _ in range(2):
        assert client.ok("POST", f"{path}/journals/w?offset=0", body=first) == {"offset": len(first)}
    assert client.ok("POST", f"{path}/journals/w?offset=0", body=first + second) == {"offset": len(first + second)}
    answer = client.call("POST", f"{path}/journals/w?offset=999", body=first)
    assert (answer.status, answer.code, answer.json["detail"]["offset"]) == (409, "offset_gap", len(first + second))
    (metric,) = client.ok("GET", f"{path}/metrics")["metrics"][run["id"]]
    assert metric["values"] == [1, 2]
    assert client.ok("POST", f"{path}/journals/w?offset={len(first)}", body=b"") == {"offset": len(first + second)}


def test_a_journal_longer_than_any_piece_is_taken_in_whole(client: Client) -> None:
    run = client.make_run()
    path = f"/api/runs/{run['id']}"
    body = journal_lines(*(["v", f"metric-{number % 7}", number, 1.5, number] for number in range(60_000)))
    assert len(body) > 2 << 20
    assert client.ok("POST", f"{path}/journals/w?offset=0", body=body) == {"offset": len(body)}
    found = client.ok("GET", f"{path}/metrics")["metrics"][run["id"]]
    assert sum(each["count"] for each in found) == 60_000
    assert found[3]["values"] == list(range(3, 60_000, 7))


def test_a_bad_line_is_named_and_what_came_before_in_the_batch_is_not_half_applied(client: Client) -> None:
    run = client.make_run()
    path = f"/api/runs/{run['id']}"
    answer = client.call("POST", f"{path}/journals/w?offset=0", body=journal_lines(["v", "a", 1, 0.0, None]) + b"{no\n")
    assert (answer.status, answer.code) == (400, "bad_journal")
    assert client.ok("GET", f"{path}/metrics") == {"metrics": {}}
    assert client.call("POST", f"{path}/journals/w?offset=0", body=b'["v","a",1,0.0,null]').code == "bad_journal"


def test_a_writer_has_a_plain_name(client: Client) -> None:
    path = f"/api/runs/{client.make_run()['id']}"
    assert client.call("POST", f"{path}/journals/a%20b?offset=0", body=b"").code == "bad_request"
    assert client.call("POST", f"{path}/journals/w", body=b"").code == "bad_request"
