"""The source of a run over the API: the files of its snapshot, whole or in part, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.rich_runs import stored_snapshot

if TYPE_CHECKING:
    from tests.server.conftest import Served


def test_files_of_the_snapshot(served: Served) -> None:
    client = served.client
    snapshot = stored_snapshot(client, {"train.py": b"print(1)\n", "lib/a b.py": b"x = 1\n"})
    run = client.make_run(snapshot_id=snapshot)
    path = f"/api/runs/{run['id']}/source"
    found = client.ok("GET", path)
    assert found["snapshot_id"] == snapshot
    assert [(each["name"], each["size"], each["kind"]) for each in found["files"]] == [
        ("lib/a b.py", 6, "file"),
        ("train.py", 9, "file"),
    ]
    assert client.get(f"{path}/train.py").body == b"print(1)\n"
    assert client.get(f"{path}/lib/a%20b.py").body == b"x = 1\n"
    part = client.get(f"{path}/train.py", Range="bytes=0-4")
    assert (part.status, part.body) == (206, b"print")
    assert client.get(f"{path}/nothing.py").code == "file_not_found"
    assert client.get("/api/runs/nosuch/source").code == "run_not_found"
    bare = client.make_run()
    assert client.ok("GET", f"/api/runs/{bare['id']}/source") == {"snapshot_id": None, "files": []}
    assert client.get(f"/api/runs/{bare['id']}/source/train.py").code == "file_not_found"
