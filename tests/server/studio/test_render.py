"""The HTML of a run's page: every text that a user or a script wrote is escaped."""

from __future__ import annotations

from datetime import datetime, timezone

from runyard.contracts import states
from runyard.server.studio.render import Shown, refresh, render
from runyard.store.content.files import FileEntry
from runyard.store.runs.records import Run

NOW = datetime(2026, 1, 2, tzinfo=timezone.utc)
HOSTILE = "<script>alert(1)</script>"


def run(status: str = states.RUNNING, **more: object) -> Run:
    usual: dict[str, object] = {
        "id": "r1", "number": 1, "workspace": "local", "experiment": "trial", "experiment_id": "e", "parent_id": None,
        "root_id": "r1", "kind": "script", "type": "azureml.scriptrun", "name": None, "display_name": None,
        "description": None, "status": status, "reason": None, "target": "local", "created_at": NOW, "started_at": NOW,
        "ended_at": None, "tags": {}, "properties": {}, "submitted_by": None, "snapshot_id": None, "error": None,
        "warnings": [],
    }  # fmt: skip
    return Run(**{**usual, **more})  # type: ignore[arg-type]


def test_what_others_wrote_is_escaped() -> None:
    hostile = run(
        display_name=HOSTILE,
        tags={HOSTILE: HOSTILE},
        error={"code": HOSTILE, "message": HOSTILE, "help": HOSTILE},
        warnings=[{"message": HOSTILE}],
    )
    page = render(Shown(hostile, "key", [], [], []), "user_logs/std_log.txt", HOSTILE)
    assert "<script" not in page
    assert page.count("&lt;script&gt;") >= 6


def test_a_run_that_is_over_is_not_loaded_again() -> None:
    assert refresh(run()) == {"Refresh": "3"}
    assert refresh(run(states.COMPLETED)) == {}


def test_a_page_of_nothing_has_no_empty_sections() -> None:
    page = render(Shown(run(), "key", [], [], []), None, "")
    assert "<h2>Metrics" not in page
    assert "<h2>Warnings" not in page


def test_files_are_named() -> None:
    entry = FileEntry("outputs/a&b.bin", 2048, None, None, NOW)
    assert "outputs/a&amp;b.bin" in render(Shown(run(), "key", [], [], [entry]), None, "")
