"""One run over two nodes whose processes run in containers, each in one of its own, with a real Docker engine."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator

import docker
import pytest
from tests.support.docker_engine import BASE, DockerEngine, client_of, containers_of
from tests.support.gang_fixtures import gangs, yard_on
from tests.support.gang_places import ThisMachine
from tests.support.gang_yard import Distribution, GangYard

from azureml.core import Environment, Run
from azureml.core.runconfig import DockerConfiguration, PyTorchConfiguration
from runyard.sdk.submit.distributed import PlainConfiguration

__all__ = ["gangs"]

pytestmark = pytest.mark.xdist_group("docker")

TWO_BY_TWO = PlainConfiguration(process_count_per_node=2, node_count=2)

MEETS = """
import json, os, socket, sys, time
rank, size = int(os.environ['RANK']), int(os.environ['WORLD_SIZE'])
place = os.environ['MASTER_ADDR'], int(os.environ['MASTER_PORT'])

def meet():
    '''Send rank 0 a word, and return the words of all once everybody has sent one.'''
    word = f'{rank} on {os.environ["NODE_RANK"]}'
    if rank == 0:
        with socket.create_server(place) as server:
            others = [server.accept()[0].makefile('rw') for _ in range(size - 1)]
        words = sorted([word, *(other.readline().strip() for other in others)])
        for other in others:
            print(json.dumps(words), file=other, flush=True)
        return words
    while True:
        try:
            line = socket.create_connection(place).makefile('rw')
            break
        except ConnectionRefusedError:  # rank 0 is not there yet
            time.sleep(0.02)
    print(word, file=line, flush=True)
    return json.loads(line.readline())

"""
"""Ranks that find each other by what they were told, over the network that their containers have."""

STAYS = MEETS + "meet()\nprint('rank', rank, 'is ready', flush=True)\ntime.sleep(600)\n"


@pytest.fixture(scope="module")
def cluster_yard(docker_engine: DockerEngine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[GangYard]:
    """A yard with a cluster of this machine, whose server finds the engine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DOCKER_HOST", docker_engine.address)
        with yard_on(ThisMachine(), tmp_path_factory.mktemp("contained")) as yard:
            yield yard


@pytest.fixture
def engine(docker_engine: DockerEngine, gangs: GangYard) -> Iterator[docker.DockerClient]:
    with client_of(docker_engine) as client:
        yield client


def contained(yard: GangYard, script: str, distribution: Distribution = TWO_BY_TWO) -> Run:
    config = yard.gang_config(script, distribution=distribution)
    config.run_config.environment = Environment.from_docker_image("base", BASE)
    config.run_config.docker = DockerConfiguration(use_docker=True, shm_size="64m")
    return yard.send(config)


def wait_ready(yard: GangYard, run: Run, engine: docker.DockerClient) -> None:
    """Wait until every rank has met the others, in a container of its own."""
    folders = [yard.home / "runs" / name for name in (run.id, f"{run.id}@1")]
    logs = [folders[rank // 2] / "streams" / f"std_log_process_{rank}.txt" for rank in range(4)]
    yard.wait(lambda: all(log.exists() and "is ready" in log.read_text() for log in logs), "the ranks to be ready")
    assert len(containers_of(engine)) == 4


def wait_removed(yard: GangYard, engine: docker.DockerClient) -> None:
    yard.wait(lambda: not containers_of(engine), "the containers to go")


def test_ranks_in_containers_find_each_other_and_log_into_the_one_run(
    gangs: GangYard, engine: docker.DockerClient
) -> None:
    script = MEETS + (
        "from azureml.core import Run\n"
        "words = meet()\n"
        "run = Run.get_context()\n"
        "for step in range(3):\n"
        "    run.log(f'loss of {rank}', step / (rank + 1))\n"
        "os.makedirs('outputs', exist_ok=True)\n"
        "with open(f'outputs/{rank}.txt', 'w') as file:\n"
        "    file.write(run.id)\n"
        "meet()\n"
        "seen = sorted(os.listdir('outputs'))\n"
        "print(json.dumps([rank, size, os.environ['LOCAL_RANK'], words, seen, os.path.exists('/.dockerenv')]))\n"
    )
    run = contained(gangs, script, PyTorchConfiguration("Gloo", process_count=4, node_count=2))
    gangs.finish(run)
    words = ["0 on 0", "1 on 0", "2 on 1", "3 on 1"]
    files = [f"{rank}.txt" for rank in range(4)]
    for rank in range(4):
        assert json.loads(gangs.log(run, rank)) == [rank, 4, str(rank % 2), words, files, True]
    assert run.get_metrics() == {f"loss of {rank}": [step / (rank + 1) for step in range(3)] for rank in range(4)}
    assert {f"outputs/{name}" for name in files} <= set(run.get_file_names())
    wait_removed(gangs, engine)


def test_the_death_of_a_rank_ends_all_containers_and_is_told(gangs: GangYard, engine: docker.DockerClient) -> None:
    script = MEETS + (
        "meet()\n"
        "print('rank', rank, 'is ready', flush=True)\n"
        "meet()\n"
        "if rank == 3:\n"
        "    print('the loss is not a number', flush=True)\n"
        "    sys.exit(7)\n"
        "time.sleep(600)\n"
    )
    run = contained(gangs, script)
    gangs.finish(run, "Failed")
    told = gangs.error(run)
    assert "Rank 3 on node 1" in told
    assert "exit code 7" in told
    assert "the loss is not a number" in told
    for rank in range(4):
        assert f"rank {rank} is ready" in gangs.log(run, rank)
    wait_removed(gangs, engine)


def test_cancel_ends_all_containers(gangs: GangYard, engine: docker.DockerClient) -> None:
    run = contained(gangs, STAYS)
    wait_ready(gangs, run, engine)
    run.cancel()
    gangs.finish(run, "Canceled")
    wait_removed(gangs, engine)


@pytest.mark.parametrize(("node", "code"), [(0, "NodeRunnerLost"), (1, "NodeLost")], ids=["leader", "follower"])
def test_a_killed_node_runner_leaves_no_container(
    gangs: GangYard, engine: docker.DockerClient, node: int, code: str
) -> None:
    run = contained(gangs, STAYS)
    wait_ready(gangs, run, engine)
    os.kill(gangs.runner(run, node).pid, signal.SIGKILL)
    gangs.finish(run, "Failed")
    assert code in gangs.error(run)
    wait_removed(gangs, engine)
    for rank in range(4):
        assert f"rank {rank} is ready" in gangs.log(run, rank)
