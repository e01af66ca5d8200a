import doctest
import warnings
from pathlib import Path
from typing import Any

import pytest

from runyard.sdk.data.data_reference import DataReference
from runyard.sdk.data.datapath import DataPath
from runyard.sdk.data.dataset_consumption import DatasetConsumptionConfig
from runyard.sdk.estimator import estimator as estimators
from runyard.sdk.estimator.estimator import Estimator, MMLBaseEstimator
from runyard.sdk.exceptions import ExperimentExecutionException, TrainingException, UserErrorException
from runyard.sdk.experiment import Experiment
from runyard.sdk.submit.runconfig import RunConfiguration

pytestmark = pytest.mark.filterwarnings("ignore:.*is deprecated in SDK v1:DeprecationWarning")


@pytest.fixture
def project(tmp_path: Path) -> str:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "train.py").write_text("import sys; print(sys.argv[1:])")
    return str(folder)


def test_the_example_runs() -> None:
    result = doctest.testmod(estimators)
    assert result.attempted > 0
    assert result.failed == 0


def test_what_an_estimator_shows() -> None:
    estimator = Estimator(None, compute_target="local", entry_script="train.py", pip_packages=["numpy"])
    assert estimator.source_directory == "."
    assert estimator.run_config.script == "train.py"
    assert estimator.conda_dependencies is estimator.run_config.environment.python.conda_dependencies
    assert repr(estimator) == ("Estimator(source_directory='.', entry_script='train.py', arguments=[], target='local')")


def test_all_but_the_folder_is_told_by_name() -> None:
    with pytest.raises(TypeError, match="positional"):
        Estimator(".", "local")  # type: ignore[call-arg]


def test_age_is_told_where_the_estimator_is_made() -> None:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        Estimator(".", compute_target="local")
        MMLBaseEstimator(".", compute_target="local")
    assert [(each.category, each.filename) for each in seen] == [(DeprecationWarning, __file__)] * 2


def test_the_base_takes_a_run_configuration() -> None:
    config = RunConfiguration("train.py", ["--lr", 1])
    estimator = MMLBaseEstimator("src", compute_target="cpu-cluster", estimator_config=config)
    assert estimator.run_config is config
    assert (config.target, estimator.source_directory) == ("cpu-cluster", "src")
    assert estimator._at_submit({"--more": 2}).arguments == ["--lr", 1, "--more", 2]


def test_parameters_that_are_told_at_submit() -> None:
    estimator = Estimator(
        ".",
        compute_target="local",
        entry_script="train.py",
        script_params={"--lr": 0.1, "--epochs": 3},
        resume_from=DataPath("store", "checkpoints"),
    )
    resumed = ["--resume-from", "$AZUREML_DATAREFERENCE_MODEL_LOCATION"]
    found = estimator._at_submit({"--lr": 0.5, "--fast": None}, [DataReference("store", "images")], "other")
    assert found.arguments == ["--lr", 0.5, "--epochs", 3, "--fast", *resumed]
    assert set(found.run_config.data_references) == {"MODEL_LOCATION", "images"}
    assert found.run_config.source_directory_data_store == "other"
    again = estimator._at_submit()
    assert again.arguments == ["--lr", 0.1, "--epochs", 3, *resumed]
    assert set(again.run_config.data_references) == {"MODEL_LOCATION"}


@pytest.mark.parametrize("unknown", ["run_id", "pip_packages"])
def test_nothing_else_is_told_at_submit(experiment: Experiment, project: str, unknown: str) -> None:
    estimator = Estimator(project, compute_target="local", entry_script="train.py")
    with pytest.raises(TrainingException, match=f"cannot be submitted with {unknown}"):
        experiment.submit(estimator, tags=None, **{unknown: "x"})
    assert list(experiment.get_runs()) == []


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({}, TrainingException, "has no entry_script"),
        ({"entry_script": "other.py"}, ExperimentExecutionException, "no script 'other.py'"),
        (
            {"entry_script": "train.py", "inputs": [DatasetConsumptionConfig("x", ("ws", "nowhere"), "mount")]},
            UserErrorException,
            "no dataset 'nowhere'",
        ),
        (
            {"entry_script": "train.py", "compute_target": None, "vm_size": "STANDARD_D2_V2"},
            UserErrorException,
            "made for this run alone",
        ),
    ],
)
def test_what_cannot_be_run_is_refused_at_submit(
    experiment: Experiment, project: str, options: "dict[str, Any]", error: "type[Exception]", message: str
) -> None:
    with pytest.raises(error, match=message):
        experiment.submit(Estimator(project, **{"compute_target": "local", **options}))


def test_an_estimator_runs_twice_as_two_runs(experiment: Experiment, project: str) -> None:
    estimator = Estimator(
        project, compute_target="local", entry_script="train.py", script_params={"--layers": [64, 32]}
    )
    first = experiment.submit(estimator, tags={"which": "first"})
    second = experiment.submit(estimator, script_params={"--fast": None})
    document = []
    for run in (first, second):
        run.wait_for_completion()
        document.append(run.get_details_with_logs()["logFiles"]["user_logs/std_log.txt"].strip())
    assert document == ["['--layers', '64', '32']", "['--layers', '64', '32', '--fast']"]
    assert first.get_tags() == {"which": "first"}
    assert estimator.run_config.arguments == ["--layers", 64, 32]
