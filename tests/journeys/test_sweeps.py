"""Sweeps with real children: the notebook's flow, a server that is killed again and again, cancel, warm start."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from azureml.core import Experiment, ScriptRunConfig
from azureml.train.hyperdrive import (
    BanditPolicy,
    BayesianParameterSampling,
    GridParameterSampling,
    HyperDriveConfig,
    HyperDriveRun,
    PrimaryMetricGoal,
    RandomParameterSampling,
    choice,
    loguniform,
    uniform,
)

if TYPE_CHECKING:
    from tests.journeys.conftest import Yard

TRAIN = """
import argparse, time
from azureml.core import Run
parser = argparse.ArgumentParser()
parser.add_argument('--fixed')
parser.add_argument('--batch-size', type=int)
parser.add_argument('--learning-rate', type=float)
args = parser.parse_args()
assert args.fixed == 'x'
run = Run.get_context()
for epoch in range(1, 7):
    run.log('validation_acc', epoch / 6 * (1 - 2 * abs(args.learning_rate - 0.1)))
    run.flush()
    time.sleep(0.1)
"""


def submit(yard: Yard, config: ScriptRunConfig, sampling: Any, **given: Any) -> HyperDriveRun:
    usual: dict[str, Any] = {
        "primary_metric_name": "validation_acc",
        "primary_metric_goal": PrimaryMetricGoal.MAXIMIZE,
        "max_total_runs": 8,
        "max_concurrent_runs": 4,
    }
    hdc = HyperDriveConfig(run_config=config, hyperparameter_sampling=sampling, **{**usual, **given})
    run = Experiment(yard.workspace, "sweep").submit(config=hdc)
    assert isinstance(run, HyperDriveRun)
    return run


def command(yard: Yard, text: str) -> ScriptRunConfig:
    return ScriptRunConfig(str(yard.project("")), command=[text], compute_target="local")


def test_the_flow_of_the_notebooks(shared_yard: Yard) -> None:
    """Eight children, four at once; a bandit stops those that fall behind, and says why."""
    src = shared_yard.config(TRAIN, "--fixed", "x")
    ps = RandomParameterSampling(
        {"--batch-size": choice(25, 50, 100), "--learning-rate": loguniform(-6, -0.5)}, properties={"seed": 3}
    )
    hdr = submit(shared_yard, src, ps, policy=BanditPolicy(evaluation_interval=2, slack_factor=0.1))
    hdr.wait_for_completion(show_output=True)
    best = hdr.get_best_run_by_primary_metric()
    assert best is not None
    arguments = best.get_details()["runDefinition"]["arguments"]
    assert arguments[:2] == ["--fixed", "x"]
    assert abs(float(arguments[5]) - 0.1) < 0.1
    assert len(best.get_metrics()["validation_acc"]) == 6
    children = list(hdr.get_children())
    assert sorted(child.id for child in children) == [f"{hdr.id}_{number}" for number in range(8)]
    stopped = [child for child in children if child.get_status() == "Canceled"]
    assert stopped, "the bandit stopped nobody"
    for child in stopped:
        reason = child._fetch()["reason"]
        assert reason is not None
        assert reason.startswith("stopped at interval")
    snapshots = {child.get_snapshot_id() for child in children}
    assert snapshots == {hdr.get_snapshot_id()}
    properties = hdr.get_properties()
    assert (properties["best_child_run_id"], properties["runTemplate"]) == (best.id, "HyperDrive")


def test_a_server_that_is_killed_ten_times_in_a_sweep_of_forty(yard: Yard) -> None:
    """No child is started twice, none is forgotten, and every one has its place in the grid."""
    marks = yard.folder / "marks"
    marks.mkdir()
    config = command(yard, f"sh -c 'echo $AZUREML_RUN_ID >> {marks}/$2' -")
    hdr = submit(
        yard, config, GridParameterSampling({"x": choice(list(range(40)))}), max_total_runs=40, max_concurrent_runs=4
    )
    for kill in range(10):
        enough = 1 + 3 * kill
        yard.wait(partial(_has, marks, enough), "the sweep to go on")
        yard.kill_server()
        hdr.get_status()  # whoever asks starts it again
    hdr.wait_for_completion()
    assert hdr.get_status() == "Completed"
    told = {mark.name: mark.read_text().split() for mark in marks.iterdir()}
    assert told == {str(number): [f"{hdr.id}_{number}"] for number in range(40)}
    assert {child.get_status() for child in hdr.get_children()} == {"Completed"}


def _has(folder: Path, files: int) -> bool:
    return len(list(folder.iterdir())) >= files


def test_cancel_ends_the_children_and_leaves_no_process(shared_yard: Yard) -> None:
    config = command(shared_yard, "sh -c 'sleep 600' -")
    hdr = submit(shared_yard, config, GridParameterSampling({"x": choice(list(range(9)))}), max_total_runs=9)
    shared_yard.wait(lambda: sum(child.get_status() == "Running" for child in hdr.get_children()) == 4, "four to run")
    assert hdr.cancel() is True
    hdr.wait_for_completion()
    assert hdr.get_status() == "Canceled"
    assert {child.get_status() for child in hdr.get_children()} == {"Canceled"}
    assert len(list(hdr.get_children())) < 9
    shared_yard.wait(lambda: not shared_yard.processes("sleep"), "the children to end")


def test_children_that_all_fail_end_the_sweep_in_words(shared_yard: Yard) -> None:
    hdr = submit(
        shared_yard,
        command(shared_yard, "sh -c 'exit 3' -"),
        RandomParameterSampling({"x": uniform(0, 1)}),
        max_total_runs=40,
    )
    hdr.wait_for_completion(raise_on_error=False)
    assert hdr.get_status() == "Failed"
    assert hdr.get_details()["error"]["code"] == "EveryChildFailed"
    assert len(list(hdr.get_children())) < 12


GOES_ON = """
import os
parser.add_argument('--resume-from')
args = parser.parse_args()
before = open(os.path.join(args.resume_from, 'checkpoint')).read() if args.resume_from else ''
with open('outputs/checkpoint', 'w') as file:
    file.write(before + 'trained;')
"""


def test_a_bayesian_sweep_goes_on_from_a_former_one_and_is_extended(shared_yard: Yard) -> None:
    """A child that is resumed has its former parameters, and the outputs of the former run."""
    script = TRAIN.replace("0.1)\n", "0)\n").replace("args = parser.parse_args()\n", GOES_ON)
    src = shared_yard.config(script, "--fixed", "x")
    space = BayesianParameterSampling({"--batch-size": choice(25, 50), "--learning-rate": uniform(0, 0.4)})
    first = submit(shared_yard, src, space, max_total_runs=3, max_concurrent_runs=3)
    first.wait_for_completion()
    best = first.get_best_run_by_primary_metric()
    assert best is not None
    later = submit(
        shared_yard,
        src,
        space,
        max_total_runs=2,
        resume_from=[first],
        resume_child_runs=[best],
    )
    later.wait_for_completion()
    again = later.get_hyperparameters()
    assert again[f"{later.id}_0"] == first.get_hyperparameters()[best.id]
    resumed, sampled = sorted(later.get_children(), key=lambda child: str(child.id))
    for child, checkpoint in ((resumed, "trained;trained;"), (sampled, "trained;")):
        path = shared_yard.folder / f"checkpoint of {child.id}"
        child.download_file("outputs/checkpoint", str(path))
        assert path.read_text() == checkpoint
    later.extend(1)
    later.wait_for_completion()
    assert (later.get_status(), len(list(later.get_children()))) == ("Completed", 3)
