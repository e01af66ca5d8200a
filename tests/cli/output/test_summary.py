from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest

from runyard.cli.output import summary

if TYPE_CHECKING:
    from runyard.contracts.documents import FileDocument, MetricDocument, RunDocument


def run(**more: Any) -> RunDocument:
    fields = {
        "id": "exp_1",
        "number": 1,
        "workspace": "local",
        "experiment": "exp",
        "parent_id": None,
        "display_name": None,
        "description": None,
        "status": "Completed",
        "reason": None,
        "target": "local",
        "created_at": "2026-03-01T12:00:00Z",
        "started_at": "2026-03-01T12:00:01Z",
        "ended_at": "2026-03-01T12:01:16Z",
        "tags": {},
        "properties": {},
        "snapshot_id": None,
        "error": None,
        "warnings": [],
        "web_url": "",
    }
    return cast("RunDocument", {**fields, **more})


def metric(kind: str, count: int, **content: Any) -> MetricDocument:
    return cast("MetricDocument", {"name": "m", "kind": kind, "count": count, **content})


def facts(document: RunDocument) -> dict[str, str]:
    _, *lines = summary.describe(document)
    return {name: value for name, _, value in (line.strip().partition("  ") for line in lines) if value}


def test_a_plain_run_shows_what_matters_and_nothing_empty() -> None:
    shown = facts(run())
    assert shown.keys() == {"experiment", "created", "took", "compute"}
    assert shown["took"].strip() == "1 min 15 s"


def test_what_was_started_with_what_and_from_where() -> None:
    launch = {"script": "train.py", "arguments": ["--name", "two words"], "restarts": 2}
    properties = {"azureml.git.commit": "0123456789abcdef", "azureml.git.branch": "main", "azureml.git.dirty": "True"}
    shown = facts(run(launch=launch, properties=properties, tags={"a": "1", "b": None}, attempt=2))
    assert shown["started"].strip() == "train.py --name 'two words'"
    assert shown["git"].strip() == "main at 0123456789ab with uncommitted changes"
    assert shown["tags"].strip() == "a=1, b"
    assert shown["attempt"].strip().startswith("2 of at most 3; the logs of the one before are in user_logs/attempt_1/")


def test_a_run_that_waits_names_its_reason() -> None:
    assert facts(run(status="Queued", reason="waits for a place", started_at=None))["waits"].strip() == (
        "waits for a place"
    )


@pytest.mark.parametrize(
    ("document", "shown"),
    [
        (metric("values", 2, values=[1.0, 0.25]), "0.25"),
        (metric("values", 0, values=[]), ""),
        (metric("values", 9, buckets=[{"last": 1.0}, {"last": {"f": "nan"}}]), "nan"),
        (metric("table", 2, columns={"a": [1, 2], "b": ["x", "y"], "c": []}), "a=2, b=y  (2 rows)"),
    ],
)
def test_the_last_value_of_a_metric(document: MetricDocument, shown: str) -> None:
    assert summary.last_value(document) == shown


def test_metrics_and_files_have_a_heading_only_when_there_are_some() -> None:
    assert list(summary.metrics([])) == list(summary.files([])) == []
    assert "  m  0.5  (3 values)" in list(summary.metrics([metric("values", 3, values=[0.5])]))
    many = [cast("FileDocument", {"name": f"f{number}", "size": 1500}) for number in range(summary.SHOWN_FILES + 2)]
    lines = list(summary.files(many))
    assert lines[2] == "  f0  1.5 kB"
    assert lines[-1] == "  and 2 more files"


def test_the_end_of_a_run_and_its_error() -> None:
    assert "exp_1  Failed after 1 min 15 s" in list(summary.ending(run(status="Failed")))
    assert list(summary.error(run())) == []
    assert list(summary.error(run(warnings=[{"message": "slow disk"}]))) == ["Warning: slow disk"]
    assert "definition" not in summary.without_definition(run(definition={"script": "train.py"}))
