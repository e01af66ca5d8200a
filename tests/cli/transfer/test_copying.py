"""A whole history, carried over: value by value it is the same, and a second time nothing comes twice."""

from __future__ import annotations

import math
from dataclasses import replace

from tests.cli.transfer.conftest import Written
from tests.server.conftest import Served
from tests.support.frameworks import environment  # noqa: F401 - these need it

from runyard.cli.transfer.copying import BEGUN, STATE, Transfer
from runyard.cli.transfer.folders import MlflowFolder
from runyard.cli.transfer.records import Source, Summary
from runyard.cli.transfer.rest import MlflowServer
from runyard.cli.transfer.sqlite import MlflowDatabase


def carried(source: Source, target: MlflowServer, keep_ids: bool = True) -> Summary:
    return Transfer(source, target, keep_ids, lambda line: None).everything()


def check(target: MlflowServer, ids: dict[str, str]) -> None:
    parent = target.run(ids["parent"])
    assert (parent.name, parent.status, parent.start_time, parent.end_time) == (
        "parent",
        "FINISHED",
        1_600_000_000_000,
        1_600_000_005_000,
    )
    assert parent.parameters == {"lr": "0.1", "text": "ä\n'"}
    assert parent.tags["team"] == "red"
    loss = target.history(parent, "loss")
    assert loss == [(1 / (step + 1), 1_600_000_000_000 + step, step) for step in range(1500)]
    odd = {step: value for value, _, step in target.history(parent, "odd")}
    assert math.isnan(odd[0])
    assert odd[-3] == 2.5
    files = {path: opened().read() for path, opened in target.files(parent)}
    assert files == {"model/MLmodel": b"flavors: {}", "sub/x.txt": b"content"}
    child = target.run(ids["child"])
    assert (child.status, child.tags["mlflow.parentRunId"]) == ("FAILED", ids["parent"])
    assert target.run(ids["gone"]).deleted
    assert {each.name: each.tags for each in target.experiments()}["first/of all"] == {"a": "b"}
    [model] = target.models()
    assert (model.name, model.description, model.tags, model.aliases) == ("m.odel", "said", {"k": "v"}, {"champion": 2})
    assert [version.tags["x"] for version in model.versions] == ["y", "y"]


def test_a_database_and_what_was_interrupted(database: Written, target: MlflowServer) -> None:
    source = MlflowDatabase(database.folder / "mlflow.db")
    summary = carried(source, target)
    assert (summary.runs, summary.skipped, summary.versions, summary.lost) == (3, 0, 2, [])
    assert summary.points == 1502
    check(target, database.ids)
    asked = {"run_id": database.ids["parent"], "key": STATE, "value": BEGUN}
    target.call("POST", "runs/set-tag", asked)  # as if it had been interrupted before its end
    again = carried(source, target)
    assert (again.runs, again.skipped, again.points, again.versions) == (1, 2, 0, 0)
    check(target, database.ids)


def test_folders_of_a_year_before(folders: Written, target: MlflowServer) -> None:
    summary = carried(MlflowFolder(folders.folder / "mlruns"), target)
    assert (summary.runs, summary.versions, summary.lost) == (3, 2, [])
    check(target, folders.ids)


def test_from_one_server_to_another_with_ids_of_its_own(
    database: Written, target: MlflowServer, mlflow_server: Served
) -> None:
    carried(MlflowDatabase(database.folder / "mlflow.db"), target)
    client = mlflow_server.client
    client.ok("POST", "/api/workspaces", {"name": "second-one", "subscription_id": "s", "resource_group": "g"})
    second = MlflowServer(f"{client.url}/mlflow/second-one", f"Bearer {client.token}")
    summary = carried(target, second, keep_ids=False)
    assert (summary.runs, summary.versions) == (3, 2)
    found = {run.name: run for each in second.experiments() for run in second.runs(each)}
    assert found["parent"].id != database.ids["parent"]
    assert len(second.history(found["parent"], "loss")) == 1500
    assert len(list(second.files(found["parent"]))) == 2


class Wrong:
    """A source with what cannot be carried over."""

    name = "wrong"

    def __init__(self, source: Source) -> None:
        self._source = source

    def __getattr__(self, name: str) -> object:
        return getattr(self._source, name)

    def models(self) -> object:
        [model] = self._source.models()
        lost = replace(model.versions[0], source="s3://bucket/x", version=7)
        return [replace(model, name="no name/:"), replace(model, versions=[lost])]

    def files(self, run: object) -> object:
        raise ValueError("its files are in s3://bucket, which is not on this machine")

    def left_out(self) -> dict[str, int]:
        return {"traces": 3}


def test_what_cannot_be_carried_over_is_told(database: Written, target: MlflowServer) -> None:
    wrong: Source = Wrong(MlflowDatabase(database.folder / "mlflow.db"))  # type: ignore[assignment]
    summary = carried(wrong, target)
    told = "\n".join(summary.lost)
    assert summary.runs == 3
    for expected in ("s3://bucket, which", "'no name/:'", "Version 7", "3 traces"):
        assert expected in told
