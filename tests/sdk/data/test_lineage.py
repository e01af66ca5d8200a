"""What `get_details()` tells of a run's datasets: printed as SDK v1 prints it, and real datasets when looked at."""

from __future__ import annotations

from tests.sdk.run.interactive_run import begin

from runyard.sdk.data import lineage
from runyard.sdk.data.dataset import Dataset
from runyard.sdk.data.lineage import UsedDatasets
from runyard.sdk.experiment import Experiment


def test_shown_with_ids_and_given_as_datasets(experiment: Experiment) -> None:
    workspace = experiment.workspace
    dataset = Dataset.File.from_files("http://h.example/a").register(workspace, "lineage", create_new_version=True)
    found = [{"dataset": {"id": dataset.id}, "consumptionDetails": {"type": "RunInput", "inputName": "d"}}]
    used = UsedDatasets(found, workspace)
    assert repr(used) == repr(found)
    assert used[0]["dataset"].id == dataset.id
    assert [each["dataset"]._definition for each in used] == [dataset._definition]
    assert used[:1][0]["consumptionDetails"]["inputName"] == "d"
    assert len(UsedDatasets([], workspace)) == 0


def test_outside_of_a_run_nothing_is_noted(experiment: Experiment) -> None:
    dataset = Dataset.File.from_files("http://h.example/a").register(
        experiment.workspace, "lineage", create_new_version=True
    )
    assert Dataset.get_by_id(experiment.workspace, str(dataset.id)).id == dataset.id
    assert not lineage._noted
    with begin(experiment) as run:
        pass
    assert run.get_details()["inputDatasets"] == []
