"""What is done to many runs at once: what one refuses stops no other."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.server.conftest import Client


def test_batches(here: Client) -> None:
    ended, going = here.make_run(), here.make_run()
    here.end(ended)
    ids = [ended["id"], going["id"]]

    def do(action: str, runs: list[str] = ids, **more: object) -> tuple[list[str], list[str]]:
        told = here.ok("POST", "/api/run-batches", {"action": action, "runs": runs, **more})
        return told["done"], [each["code"] for each in told["refused"]]

    assert do("tag", [*ids, "nosuch"], set_tags={"a": "b"}) == (ids, ["run_not_found"])
    assert here.ok("GET", f"/api/runs/{ids[1]}")["tags"] == {"a": "b"}
    assert do("tag", remove_tags=["a"]) == (ids, [])
    assert do("archive", ids[:1]) == (ids[:1], [])
    listed = here.ok("GET", "/api/workspaces/local/table")["runs"]
    assert [run["id"] for run in listed] == ids[1:]
    assert here.ok("GET", f"/api/runs/{ids[0]}")["archived_at"] is not None
    assert do("restore", ids[:1]) == (ids[:1], [])
    assert do("delete") == (ids[:1], ["run_active"])
    assert do("stop", ids[1:]) == (ids[1:], [])
    assert here.call("POST", "/api/run-batches", {"action": "burn", "runs": ids}).status == 400
    assert here.call("POST", "/api/run-batches", {"action": "stop", "runs": []}).status == 400
