"""One run over many nodes, told once and lived three times: on this machine, on a Ray cluster, on a Slurm cluster."""

from __future__ import annotations

import json
from pathlib import Path

import psutil
import pytest
from tests.support.frameworks import environment
from tests.support.gang_fixtures import ENGINES, cluster_yard, gangs
from tests.support.gang_yard import ENDED, GangYard
from tests.support.web_files import web_files

from azureml.core import Dataset, Experiment, Run
from azureml.core.runconfig import PyTorchConfiguration
from azureml.exceptions import ActivityFailedException
from azureml.train.hyperdrive import GridParameterSampling, HyperDriveConfig, HyperDriveRun, PrimaryMetricGoal, choice
from runyard.sdk.submit.distributed import PlainConfiguration

__all__ = ["cluster_yard", "gangs"]

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "distributed"

TWO_BY_TWO = PlainConfiguration(process_count_per_node=2, node_count=2)

BEGUN = """
import os, sys, time
rank, nodes = int(os.environ['RANK']), os.environ['AZUREML_NODE_COUNT']
begun = sys.argv[1]
def begin():
    print('rank', rank, 'has begun', flush=True)
    open(f'{begun}.{rank}', 'w').close()
"""
"""Says that a rank has begun, in its log and by a file that the test waits for."""

STAYS = BEGUN + "begin()\ntime.sleep(600)\n"


def wait_begun(yard: GangYard, begun: Path, ranks: int = 4) -> None:
    for rank in range(ranks):
        yard.wait(Path(f"{begun}.{rank}").exists, f"rank {rank} to begin")


def names_and_lines(yard: GangYard, run: Run) -> str:
    yard.finish(run, "Failed")
    with pytest.raises(ActivityFailedException) as told:
        run.wait_for_completion()
    return f"{told.value}\n{yard.error(run)}"


def test_every_rank_logs_into_the_one_run(gangs: GangYard) -> None:
    script = """
        import os
        from azureml.core import Run
        rank, node = int(os.environ['RANK']), os.environ['AZUREML_CR_NODE_RANK']
        run = Run.get_context()
        for step in range(50):
            run.log(f'loss of {rank}', step / (rank + 1))
        print('rank', rank, 'of', os.environ['WORLD_SIZE'], 'on node', node, 'local', os.environ['LOCAL_RANK'])
        os.makedirs('outputs', exist_ok=True)
        with open(f'outputs/{rank}.txt', 'w') as file:
            file.write('of ' + run.id)
    """
    run = gangs.gang(script, distribution=TWO_BY_TWO)
    gangs.finish(run)
    for rank in range(4):
        assert gangs.log(run, rank) == f"rank {rank} of 4 on node {rank // 2} local {rank % 2}\n"
    metrics = run.get_metrics()
    assert metrics == {f"loss of {rank}": [step / (rank + 1) for step in range(50)] for rank in range(4)}
    files = run.get_file_names()
    assert {f"outputs/{rank}.txt" for rank in range(4)} <= set(files)
    assert "user_logs/std_log.txt" not in files
    assert {"system_logs/runner.log", "system_logs/runner_node_1.log"} <= set(files)
    assert "rank 3 of 4" in gangs.runyard("logs", run.id, "--rank", "3")


def test_data_reaches_a_run_and_a_gang_and_is_fetched_once(gangs: GangYard) -> None:
    """Data of the web, given to one process on a node of the cluster and then to two nodes with two ranks each."""
    script = """
        import os, sys
        from azureml.core import Run
        place = sys.argv[1]
        found = b''.join(open(os.path.join(place, name), 'rb').read() for name in sorted(os.listdir(place)))
        assert Run.get_context().input_datasets['d'] == place
        print(len(found), found[:1], found[-1:])
    """
    with web_files(a=b"a" * 100_000, b=b"b" * 50_000) as web:
        dataset = Dataset.File.from_files([f"{web.url}/a", f"{web.url}/b"])
        both = gangs.gang(script, dataset.as_named_input("d").as_mount(), distribution=TWO_BY_TWO)
        gangs.finish(both)
        alone = gangs.gang(script, dataset.as_named_input("d").as_mount())
        gangs.finish(alone)
        fetched = sorted(path for method, path, _ in web.requests if method == "GET")
    assert [gangs.log(both, rank) for rank in range(4)] == ["150000 b'a' b'b'\n"] * 4
    assert alone.get_details_with_logs()["logFiles"]["user_logs/std_log.txt"] == "150000 b'a' b'b'\n"
    assert fetched == ["a", "b"], "once for both nodes of the gang, and not again for the next run"
    records = [json.loads(str(run.get_properties()["runyard.data.d"])) for run in (both, alone)]
    assert [each["bytes"] for each in records] == [150_000] * 2
    assert records[0]["digest"] == records[1]["digest"]


def test_a_sweep_of_gangs(gangs: GangYard) -> None:
    """Each child is a gang of its own; of its ranks, the one that logs the metric first counts."""
    script = """
        import os, sys
        from azureml.core import Run
        if os.environ['RANK'] == '3':
            for step in range(3):
                Run.get_context().log('score', step * int(sys.argv[-1]))
    """
    config = HyperDriveConfig(
        GridParameterSampling({"x": choice(1, 2)}),
        "score",
        PrimaryMetricGoal.MAXIMIZE,
        max_total_runs=2,
        max_concurrent_runs=1,
        run_config=gangs.gang_config(script, distribution=TWO_BY_TWO),
    )
    run = Experiment(gangs.workspace, "gangs").submit(config)
    assert isinstance(run, HyperDriveRun)
    gangs.submitted.append(run)
    gangs.finish(run)
    order = run.get_children_sorted_by_primary_metric()
    assert [(each["run_id"], each["best_primary_metric"]) for each in order] == [(f"{run.id}_1", 4), (f"{run.id}_0", 2)]


@pytest.mark.parametrize("cluster_yard", [ENGINES["ray"]], indirect=True)
def test_torch_trains_one_model_in_all_processes(gangs: GangYard) -> None:
    """On this machine it does so in test_distributed_seeds.py, on Slurm in test_nodes_apart.py."""
    script = (EXAMPLES / "pytorch_train.py").read_text()
    distribution = PyTorchConfiguration(communication_backend="Gloo", process_count=2, node_count=2)
    run = gangs.gang(script, distribution=distribution, python=environment("torch"))
    gangs.finish(run)
    metrics = run.get_metrics()
    assert metrics["world size"] == 2
    for rank in range(2):
        losses = metrics[f"loss of rank {rank}"]
        assert losses[-1] < losses[0]
        assert f"rank {rank} of 2, gloo on cpu" in gangs.log(run, rank)
    assert "outputs/model.pt" in run.get_file_names()


def test_the_death_of_a_rank_ends_the_gang_and_is_told(gangs: GangYard, tmp_path: Path) -> None:
    script = BEGUN + (
        "begin()\n"
        "while not all(os.path.exists(f'{begun}.{each}') for each in range(4)):\n"
        "    time.sleep(0.02)\n"
        "if rank == 3:\n"
        "    print('the loss is not a number', flush=True)\n"
        "    sys.exit(7)\n"
        "time.sleep(600)\n"
    )
    run = gangs.gang(script, tmp_path / "begun", distribution=TWO_BY_TWO)
    told = names_and_lines(gangs, run)
    assert "rank 3" in told.lower()
    assert "node 1" in told.lower()
    assert "exit code 7" in told
    assert "the loss is not a number" in told
    for rank in range(4):
        assert f"rank {rank} has begun" in gangs.log(run, rank)


def test_a_node_that_vanishes_ends_the_gang(gangs: GangYard, tmp_path: Path) -> None:
    run = gangs.gang(STAYS, tmp_path / "begun", distribution=TWO_BY_TWO)
    wait_begun(gangs, tmp_path / "begun")
    gangs.place.kill_node(gangs, run, 1)
    told = names_and_lines(gangs, run)
    assert "NodeLost" in told
    assert "node 1" in told.lower()
    for rank in range(2):
        assert f"rank {rank} has begun" in gangs.log(run, rank)


def test_the_leader_vanishes(gangs: GangYard, tmp_path: Path) -> None:
    """Nobody is left to tell how the run ended. A cluster that says that it lost a node has the run start again."""
    script = BEGUN + "begin()\nif os.environ['AZUREML_RUN_RESTART_COUNT'] == '0':\n    time.sleep(600)\n"
    run = gangs.gang(script, tmp_path / "begun", distribution=TWO_BY_TWO)
    wait_begun(gangs, tmp_path / "begun")
    gangs.place.kill_node(gangs, run, 0)
    gangs.wait(lambda: run.get_status() in ENDED, "the end of the run")
    attempt = gangs.shown(run)["attempt"]
    assert (run.get_status(), attempt) in [("Failed", 1), ("Completed", 2)]
    for rank in range(4):
        assert f"rank {rank} has begun" in gangs.log(run, rank, "user_logs" if attempt == 1 else "user_logs/attempt_1")


def test_the_server_is_killed_in_the_middle_and_nothing_is_lost(gangs: GangYard, tmp_path: Path) -> None:
    script = BEGUN + (
        "from azureml.core import Run\n"
        "run, step = Run.get_context(), 0\n"
        "while not os.path.exists(begun + '.end'):\n"
        "    run.log(f'step of {rank}', step)\n"
        "    step += 1\n"
        "    if step == 20:\n"
        "        begin()\n"
        "    if step == 60:\n"
        "        open(f'{begun}.far.{rank}', 'w').close()\n"
        "    time.sleep(0.02)\n"
        "print('steps', step)\n"
        "run.log(f'steps of {rank}', step)\n"
    )
    begun = tmp_path / "begun"
    run = gangs.gang(script, begun, distribution=TWO_BY_TWO)
    wait_begun(gangs, begun)
    gangs.kill_server()
    wait_begun(gangs, Path(f"{begun}.far"))
    assert run.get_status() in ("Starting", "Preparing", "Running"), "the server is back, and takes the gang up again"
    Path(f"{begun}.end").touch()
    gangs.finish(run)
    metrics = run.get_metrics()
    for rank in range(4):
        steps = metrics[f"steps of {rank}"]
        assert metrics[f"step of {rank}"] == list(range(int(steps)))
        assert gangs.log(run, rank) == f"rank {rank} has begun\nsteps {int(steps)}\n"


def test_cancel_ends_every_rank(gangs: GangYard, tmp_path: Path) -> None:
    run = gangs.gang(STAYS, tmp_path / "begun", distribution=TWO_BY_TWO)
    wait_begun(gangs, tmp_path / "begun")
    run.cancel()
    gangs.finish(run, "Canceled")
    for rank in range(4):
        assert f"rank {rank} has begun" in gangs.log(run, rank)


def test_a_gang_that_never_meets_ends_by_its_time_limit(gangs: GangYard) -> None:
    # Rank 1 never calls init_process_group: rank 0 waits for it.
    script = """
        import os, socket, time
        if os.environ['RANK'] == '0':
            with socket.create_server(('', int(os.environ['MASTER_PORT']))) as server:
                print('waiting for the others', flush=True)
                server.accept()
        else:
            print('something else to do', flush=True)
            time.sleep(600)
    """
    run = gangs.gang(script, distribution=PlainConfiguration(1, node_count=2), max_seconds=4)
    told = names_and_lines(gangs, run)
    assert "max_run_duration_seconds" in told
    assert "MaxRunDurationExceeded" in told
    assert "rank 0 (node 0), rank 1 (node 1)" in told
    assert "waiting for the others" in gangs.log(run, 0)
    assert "something else to do" in gangs.log(run, 1)


def test_a_preempted_run_starts_again_with_its_checkpoint(gangs: GangYard, tmp_path: Path) -> None:
    script = BEGUN + (
        "from azureml.core import Run\n"
        "attempt = int(os.environ['AZUREML_RUN_RESTART_COUNT'])\n"
        "if attempt:\n"
        "    assert open('outputs/checkpoint.txt').read() == 'epoch 3'\n"
        "    Run.get_context().log(f'taken up by {rank}', attempt)\n"
        "    print('goes on from epoch 3')\n"
        "    sys.exit()\n"
        "if rank == 0:\n"
        "    os.makedirs('outputs', exist_ok=True)\n"
        "    with open('outputs/checkpoint.txt', 'w') as file:\n"
        "        file.write('epoch 3')\n"
        "begin()\n"
        "time.sleep(600)\n"
    )
    run = gangs.gang(script, tmp_path / "begun", distribution=TWO_BY_TWO)
    wait_begun(gangs, tmp_path / "begun")
    gangs.runyard("preempt", run.id)
    gangs.finish(run)
    assert run.get_metrics() == {f"taken up by {rank}": 1 for rank in range(4)}
    for rank in range(4):
        assert gangs.log(run, rank) == "goes on from epoch 3\n"
        assert gangs.log(run, rank, "user_logs/attempt_1") == f"rank {rank} has begun\n"
    shown = gangs.shown(run)
    assert shown["attempt"] == 2
    states = [state["status"] for state in shown["states"]]
    again = states.index("Queued", states.index("Running"))
    assert "Running" in states[again:]


def test_more_nodes_than_there_can_ever_be_are_refused_at_submit(gangs: GangYard) -> None:
    config = gangs.gang_config("print('never')", distribution=PlainConfiguration(1, node_count=99))
    with pytest.raises(Exception, match="99") as told:
        Experiment(gangs.workspace, "gangs").submit(config)
    assert str(gangs.place.nodes) in str(told.value)
    assert gangs.place.name in str(told.value)


def test_a_run_that_waits_says_what_for(gangs: GangYard, tmp_path: Path) -> None:
    nodes = gangs.place.nodes
    first = gangs.gang(STAYS, tmp_path / "begun", distribution=PlainConfiguration(1, node_count=nodes - 1))
    wait_begun(gangs, tmp_path / "begun", nodes - 1)
    second = gangs.gang("print('at last')", distribution=PlainConfiguration(1, node_count=2))
    gangs.wait(lambda: "nodes" in str(second.get_detailed_status()["details"]), "the reason to be told")
    assert second.get_status() in ("Queued", "Provisioning"), "it waits in our queue, or in the cluster's own"
    assert first.get_status() == "Running"
    first.cancel()
    gangs.finish(second)
    assert gangs.log(second, 1) == "at last\n"


MANY = 20
"""Runs that wait at once: five times as many as a place has nodes."""


def test_many_short_runs(gangs: GangYard) -> None:
    config = gangs.gang_config("")
    config.script = config.run_config.script = None
    runs = []
    for number in range(MANY):
        config.command = f"echo run {number}"
        runs.append(gangs.send(config))
    assert len({run.id for run in runs}) == MANY
    for number, run in enumerate(runs):
        gangs.finish(run)
        assert run.get_details_with_logs()["logFiles"]["user_logs/std_log.txt"] == f"run {number}\n"


def test_nothing_of_a_gang_is_left_even_by_a_script_that_hides(gangs: GangYard, tmp_path: Path) -> None:
    """A daemon that leaves its session and forgets its parent goes with its node all the same."""
    script = BEGUN + (
        "import subprocess\n"
        "daemon = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], start_new_session=True)\n"
        "open(f'{begun}.daemon.{rank}', 'w').write(str(daemon.pid))\n"
        "begin()\n"
    )
    run = gangs.gang(script, tmp_path / "begun", distribution=TWO_BY_TWO)
    gangs.finish(run)
    daemons = [int(Path(f"{tmp_path / 'begun'}.daemon.{rank}").read_text()) for rank in range(4)]
    gangs.wait(lambda: not any(map(psutil.pid_exists, daemons)), "the daemons to go")
