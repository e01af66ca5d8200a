"""Reading metrics: by name, with those of descendants, downsampled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.server.conftest import journal_lines, on_both_databases

if TYPE_CHECKING:
    from tests.server.conftest import Client


def test_metrics_of_one_name_of_a_family_and_in_buckets(client: Client) -> None:
    run = client.make_run()
    child = client.make_run(kind="child", parent_id=run["id"])
    silent = client.make_run(kind="child", parent_id=run["id"])
    body = journal_lines(*(["v", "loss", float(number % 10), float(number), number] for number in range(1000)))
    body += journal_lines(["v", "other", 1, 0.0, None])
    for each in (run, child):
        client.ok("POST", f"/api/runs/{each['id']}/journals/w?offset=0", body=body)
    found = client.ok("GET", f"/api/runs/{run['id']}/metrics?name=loss&recursive=true")["metrics"]
    assert set(found) == {run["id"], child["id"]}
    assert silent["id"] not in found
    assert [each["name"] for each in found[run["id"]]] == ["loss"]
    (metric,) = client.ok("GET", f"/api/runs/{run['id']}/metrics?name=loss&buckets=10")["metrics"][run["id"]]
    assert "values" not in metric
    assert len(metric["buckets"]) == 10
    assert {(each["min"], each["max"]) for each in metric["buckets"]} == {(0.0, 9.0)}
    assert client.ok("GET", f"/api/runs/{run['id']}/metrics?name=none") == {"metrics": {}}
    assert client.get(f"/api/runs/{run['id']}/metrics?buckets=0").code == "bad_request"
    first = client.ok("GET", f"/api/runs/{run['id']}/metrics?recursive=true&limit=1")["metrics"]
    assert {name: [each["name"] for each in metrics] for name, metrics in first.items()} == {
        run["id"]: ["loss"],
        child["id"]: ["loss"],
    }
    assert client.get(f"/api/runs/{run['id']}/metrics?limit=0").code == "bad_request"


@on_both_databases
def test_a_long_series_is_sent_in_pieces_and_is_whole(client: Client) -> None:
    run = client.make_run()["id"]
    values = [number / 7 for number in range(30_000)]
    points = (["v", "loss", value, 1e9 + at, at] for at, value in enumerate(values))
    client.ok("POST", f"/api/runs/{run}/journals/w?offset=0", body=journal_lines(*points, ["v", "other", 1, 0.0, None]))
    answered = client.get(f"/api/runs/{run}/metrics")
    assert answered.headers["transfer-encoding"] == "chunked"
    loss, other = answered.json["metrics"][run]
    assert (loss["count"], loss["values"], loss["steps"]) == (30_000, values, list(range(30_000)))
    assert loss["times"] == [1e9 + at for at in range(30_000)]
    assert other["values"] == [1]
    for query in ("", "?recursive=true"):
        assert client.get(f"/api/runs/nothing/metrics{query}").code == "run_not_found"
    small = client.get(f"/api/runs/{run}/metrics?name=other")
    assert int(small.headers["content-length"]) == len(small.body)


def test_names_without_points_several_by_name_and_a_part_of_a_series(client: Client) -> None:
    """What the studio asks: what there is, then the points of what is in sight, then a part of it in full detail."""
    run = client.make_run()["id"]
    body = journal_lines(*(["v", "loss", float(number), float(number), number] for number in range(1000)))
    body += journal_lines(
        ["v", "acc", 1, 0.0, None],
        ["v", "other", 2, 0.0, None],
        ["a", "image", "azureml.v2.image", "a.png", 0.0],
        ["d", "acc", "of the test set"],
    )
    client.ok("POST", f"/api/runs/{run}/journals/rank1-w?offset=0", body=body)
    path = f"/api/runs/{run}/metrics"
    heads = {each["name"]: each for each in client.ok("GET", f"{path}/names")["metrics"]}
    assert list(heads) == ["loss", "acc", "other", "image"]
    assert heads["loss"] == {
        "name": "loss",
        "kind": "values",
        "type": None,
        "description": None,
        "count": 1000,
        "ranks": [1],
    }
    assert (heads["acc"]["description"], heads["image"]["type"]) == ("of the test set", "azureml.v2.image")
    found = client.ok("GET", f"{path}?name=acc&name=loss&buckets=4")["metrics"][run]
    assert [each["name"] for each in found] == ["loss", "acc"]
    (part,) = client.ok("GET", f"{path}?name=loss&buckets=10&first=200&until=300")["metrics"][run]
    assert (part["first"], len(part["buckets"])) == (200, 10)
    assert [each["first"] for each in part["buckets"]] == [200.0 + at * 10 for at in range(10)]
    (rest,) = client.ok("GET", f"{path}?name=loss&buckets=10&first=999999")["metrics"][run]
    assert [each["last"] for each in rest["buckets"]] == [999.0]
    (exact,) = client.ok("GET", f"{path}?name=loss&buckets=100&first=10&until=15")["metrics"][run]
    assert [each["count"] for each in exact["buckets"]] == [1] * 5
    assert client.get("/api/runs/nosuch/metrics/names").code == "run_not_found"
    assert client.get(f"{path}?buckets=10&first=-1").code == "bad_request"
