"""What a server says becomes a path of this machine only when it leads nowhere else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.support import hostile

from runyard.contracts.names import BadName
from runyard.sdk.experiment import Experiment
from runyard.sdk.run.run import Run
from runyard.sdk.workspace.workspace import Workspace

EXPERIMENT: dict[str, Any] = {
    "id": "1",
    "workspace": "local",
    "name": "e",
    "tags": {},
    "created_at": "",
    "archived_at": None,
}


@pytest.fixture
def here(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, and nothing beside it but the home."""
    monkeypatch.setenv("RUNYARD_TOKEN", "x")
    return Path.cwd()


def written(here: Path) -> list[Path]:
    return [path for path in here.parent.rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    ("run_id", "log"), [("mine", "../../x"), ("mine", "/tmp/runyard-x"), ("../../mine", "logs/x"), ("/tmp/mine", "x")]
)
def test_logs_are_written_below_their_folder(
    here: Path, monkeypatch: pytest.MonkeyPatch, run_id: str, log: str
) -> None:
    answers = {"/api/workspaces": hostile.WORKSPACE, "mine": hostile.run(run_id, logs=[log]), "x": b"x"}
    with hostile.serving(answers) as url:
        monkeypatch.setenv("RUNYARD_SERVER", url)
        run = Run.get(Workspace.from_config(), "mine")
        with pytest.raises(BadName):
            run.get_all_logs()
    assert written(here) == []


def test_journals_are_written_into_the_home(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = hostile.run("../../x")
    answers = {"/api/workspaces": hostile.WORKSPACE, "/experiments/e": EXPERIMENT, "/api/runs": made}
    with hostile.serving(answers) as url:
        monkeypatch.setenv("RUNYARD_SERVER", url)
        experiment = Experiment(Workspace.from_config(), "e")
        with pytest.raises(BadName):
            experiment.start_logging(snapshot_directory=None)
    assert written(here) == []
