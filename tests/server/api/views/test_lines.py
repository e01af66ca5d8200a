"""Lines of logs over the API: the bad ones too, and only for whoever may read the run."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.server.conftest import Served


def test_a_log_by_lines_while_it_grows(served: Served) -> None:
    client = served.client
    run = client.make_run()
    path = f"/api/runs/{run['id']}/lines/user_logs/std_log.txt"
    client.ok("POST", f"/api/runs/{run['id']}/appends/user_logs/std_log.txt?offset=0", body=b"one\ntwo\nthr")
    found = client.ok("GET", path)
    assert (found["rows"], found["lines"], found["open"], found["cut"]) == (["one", "two", "thr"], 3, True, {})
    client.ok("POST", f"/api/runs/{run['id']}/appends/user_logs/std_log.txt?offset=11", body=b"ee\nfour\n")
    found = client.ok("GET", f"{path}?first=2")
    assert (found["rows"], found["lines"], found["open"]) == (["three", "four"], 4, False)
    assert client.ok("GET", f"{path}?first=-1")["rows"] == ["four"]
    assert client.ok("GET", f"{path}?first=-100")["first"] == 0
    assert client.ok("GET", f"{path}?first=99")["rows"] == []
    found = client.ok("GET", f"{path}?find=T")
    assert [hit["line"] for hit in found["found"]] == [1, 2]


def test_a_log_of_a_gigabyte_on_one_line(served: Served) -> None:
    """Its file has holes instead of that many bytes: how it is read is the same."""
    client = served.client
    run = client.make_run()
    name = "user_logs/std_log.txt"
    client.ok("POST", f"/api/runs/{run['id']}/appends/{name}?offset=0", body=b"x" * 1000)
    (place,) = [each for each in (served.settings.home / "growing").rglob("*") if each.is_file()]
    with place.open("r+b") as file:
        file.seek((1 << 30) - 4)
        file.write(b"end\n")
    found = client.ok("GET", f"/api/runs/{run['id']}/lines/{name}")
    assert (found["lines"], len(found["rows"]), found["size"]) == (1, 1, 1 << 30)
    assert found["rows"][0].startswith("xxx")
    assert found["cut"]["0"] > 1_000_000_000
    hits = client.ok("GET", f"/api/runs/{run['id']}/lines/{name}?find=end")["found"]
    assert [hit["line"] for hit in hits] == [0]


def test_refusals(served: Served) -> None:
    client = served.client
    run, other = client.make_run(), client.make_run(experiment="another")
    path = f"/api/runs/{run['id']}/lines"
    assert client.get(f"{path}/nothing.txt").code == "file_not_found"
    assert client.get(f"{path}/../x").status in (400, 404)
    assert client.get(f"{path}/a.txt?number=0").code == "bad_request"
    assert client.get(f"{path}/a.txt?find=").code == "bad_request"
    assert client.get("/api/runs/nosuch/lines/a.txt").status == 404
    assert client.as_run(other).get(f"{path}/nothing.txt").code == "file_not_found"
