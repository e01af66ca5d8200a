"""Runs over nodes that share neither a disk nor an address with the server or with each other."""

from __future__ import annotations

import contextlib
import os
import pwd
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from tests.journeys.conftest import closing
from tests.support import slurm_cluster
from tests.support.frameworks import environment
from tests.support.gang_places import OnSlurm
from tests.support.gang_yard import GangYard
from tests.support.machines import MachinesApart, machines_apart
from tests.support.slurm_cluster import USUAL, SlurmCluster

from azureml.core import Dataset, Run
from azureml.core.compute import ComputeTarget, SlurmCompute
from azureml.core.runconfig import MpiConfiguration, PyTorchConfiguration
from runyard.sdk.submit.distributed import PlainConfiguration

pytestmark = pytest.mark.xdist_group("slurm-apart")

NODE = "AZUREML_CR_NODE_RANK"
TWO_BY_TWO = PlainConfiguration(process_count_per_node=2, node_count=2)
OUTPUTS = {"outputs/0.txt", "outputs/1.txt", "outputs/node_1/2.txt", "outputs/node_1/3.txt"}
"""What is kept when each of the four ranks has written a file of its number."""

BEGUN = """
import os, sys, time
rank, node, signs = int(os.environ['RANK']), os.environ['AZUREML_CR_NODE_RANK'], sys.argv[1]
def sign(name):
    open(f'{signs}.{name}.{rank}', 'w').close()
"""
"""What a rank and the test say to each other by files. The folder of those is the only one that all of them see."""

STAYS = (
    BEGUN
    + """
import signal
def end(*_):
    print('ended', flush=True)
    sys.exit(1)
signal.signal(signal.SIGTERM, end)
print('begun', flush=True)
sign('begun')
time.sleep(600)
"""
)


class Apart(OnSlurm):
    """A Slurm cluster whose nodes are machines of their own."""

    name = "far-cluster"

    def __init__(self, cluster: SlurmCluster) -> None:
        super().__init__(cluster)
        assert isinstance(cluster.ground, MachinesApart)
        self.ground = cluster.ground
        self.signs = cluster.folder / "signs"
        self.signs.mkdir()

    def node_of(self, yard: GangYard, run: Run, node: int) -> str:
        """The name of the machine that is node `node` of a run."""
        [name] = {each["SLURMD_NODENAME"] for each in self.ranks(yard, run) if each[NODE] == str(node)}
        return name

    def ranks(self, yard: GangYard, run: Run) -> list[dict[str, str]]:
        """The variables of each process that belongs to a rank of a run."""
        return [each for each in self._processes(yard, run) if NODE in each]

    def is_on(self, name: str, yard: GangYard, run: Run) -> bool:
        """Whether anything of a run is alive on a machine."""
        return any(each.get("SLURMD_NODENAME") == name for each in self._processes(yard, run))

    def _processes(self, yard: GangYard, run: Run) -> Iterator[dict[str, str]]:
        for process in yard.of_run(run):
            with contextlib.suppress(psutil.Error):  # it may end in this moment
                yield process.environ()

    def kill_node(self, yard: GangYard, run: Run, node: int) -> None:
        self.cluster.kill_node(self.node_of(yard, run, node))

    def heal(self) -> None:
        self.ground.connect()
        with pytest.MonkeyPatch.context() as outside:
            outside.delenv("RUNYARD_HOME")  # nodes that are started now do not belong to the yard
            super().heal()

    def left(self, user_home: Path) -> list[Path]:
        """What runs have left on the disks of the nodes."""
        runs = user_home / ".cache" / "runyard" / "nodes" / "runs"
        return [path for machine in self.ground.running.values() for path in machine.seen(runs).glob("*")]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Apart]:
    """The cluster. The node runners are faster than Slurm's usual timers."""
    hidden = tmp_path_factory.getbasetemp()
    with slurm_cluster.started(make_ground=lambda: machines_apart(hidden), timers=USUAL) as cluster:
        yield Apart(cluster)


@pytest.fixture(scope="module")
def far_yard(place: Apart, tmp_path_factory: pytest.TempPathFactory) -> Iterator[GangYard]:
    """A server that is started as docs/engines/slurm.md says, in a home that no node sees."""
    folder = tmp_path_factory.mktemp("apart")
    home, projects, user = folder / "home", folder / "projects", folder / "user"
    for each in (home, projects, user):
        each.mkdir(mode=0o700)
    with pytest.MonkeyPatch.context() as patch, closing(GangYard(home, projects, place)) as yard:
        patch.setenv("RUNYARD_HOME", str(home))
        patch.setenv("RUNYARD_GRACE_SECONDS", "2")
        patch.setenv("HOME", str(user))  # on the nodes it is a folder of theirs
        (folder / "token").write_text("a-token-of-more-than-16-characters")
        yard.runyard("up", "--host", place.ground.address, "--token-file", str(folder / "token"))
        place.make(yard.workspace)
        yield yard


@pytest.fixture
def gangs(far_yard: GangYard, place: Apart, monkeypatch: pytest.MonkeyPatch) -> Iterator[GangYard]:
    """The yard, with nothing left of the test afterwards: not here, and not on the nodes."""
    monkeypatch.chdir(far_yard.folder)
    far_yard.submitted.clear()
    place.heal()
    yield far_yard
    place.heal()
    far_yard.nothing_left()
    far_yard.wait(lambda: not place.left(Path(os.environ["HOME"])), "the folders on the nodes to go")


def wait_signs(yard: GangYard, signs: Path, name: str, ranks: int = 4) -> None:
    for rank in range(ranks):
        yard.wait(Path(f"{signs}.{name}.{rank}").exists, f"rank {rank} to have {name}")


@pytest.fixture
def signs(place: Apart, request: pytest.FixtureRequest) -> Path:
    return place.signs / str(request.node.name)


def test_what_every_rank_leaves_arrives(gangs: GangYard, place: Apart) -> None:
    """The ranks meet at the address of node 0, and each is seen there by the address of its own node."""
    script = f"""
        import os, socket
        from azureml.core import Dataset, Run
        rank, node = int(os.environ['RANK']), int(os.environ['AZUREML_CR_NODE_RANK'])
        where = os.environ['MASTER_ADDR'], int(os.environ['MASTER_PORT'])
        assert not os.path.exists({str(gangs.home)!r})
        if rank == 0:
            with socket.create_server(where) as server:
                open('ready', 'w').close()
                guests = [server.accept() for _ in range(3)]
                said = sorted(guest.makefile().readline().strip() + ' ' + address[0] for guest, address in guests)
                for guest, _ in guests:
                    guest.sendall(b'welcome')
            print(*said, sep='; ')
        else:
            while True:
                try:
                    host = socket.create_connection(where)
                    break
                except ConnectionRefusedError:
                    pass
            host.sendall(f'{{rank}} {{socket.gethostname()}}\\n'.encode())
            assert host.recv(7) == b'welcome'
            print('met', host.getpeername()[0])
        run = Run.get_context()
        for step in range(50):
            run.log(f'loss of {{rank}}', step / (rank + 1))
        os.makedirs('outputs', exist_ok=True)
        with open(f'outputs/{{rank}}.txt', 'w') as file:
            file.write('of ' + run.id)
    """
    run = gangs.gang(script, distribution=TWO_BY_TWO)
    gangs.finish(run)
    nodes = sorted(place.cluster.nodes, key=lambda node: node not in gangs.log(run, 0))
    first, second = (place.ground.address_of(node) for node in nodes[:2])
    assert gangs.log(run, 0) == (f"1 {nodes[0]} {first}; 2 {nodes[1]} {second}; 3 {nodes[1]} {second}\n")
    assert [gangs.log(run, rank) for rank in (1, 2, 3)] == [f"met {first}\n"] * 3
    assert run.get_metrics() == {f"loss of {rank}": [step / (rank + 1) for step in range(50)] for rank in range(4)}
    files = set(run.get_file_names())
    assert files >= OUTPUTS | {"system_logs/runner.log", "system_logs/runner_node_1.log"}


def test_data_comes_from_the_server_once_to_each_node(gangs: GangYard, tmp_path: Path) -> None:
    """No node sees the disk of the server: it gives the files, to one rank of each node, and once."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "a").write_bytes(b"a" * 3_000_000)
    (tmp_path / "sub" / "b").write_text("b")
    store = gangs.workspace.get_default_datastore()
    store.upload(str(tmp_path), "apart", show_progress=False)
    dataset = Dataset.File.from_files((store, "apart/**")).as_named_input("d").as_mount()
    script = """
        import os, sys
        place = sys.argv[1]
        a, b = os.path.join(place, 'a'), os.path.join(place, 'sub', 'b')
        print(len(open(a).read()), open(b).read(), 'data-cache' in os.readlink(a))
    """
    run = gangs.gang(script, dataset, distribution=TWO_BY_TWO)
    gangs.finish(run)
    assert [gangs.log(run, rank) for rank in range(4)] == ["3000000 b True\n"] * 4
    for log in ("runner.log", "runner_node_1.log"):
        run.download_file(f"system_logs/{log}", str(tmp_path / log))
        assert "2 files, 3,000,001 bytes, 2 fetched" in (tmp_path / log).read_text(), "for both of its ranks"


def test_torch_meets_over_the_network(gangs: GangYard, place: Apart) -> None:
    script = """
        import sys, torch, torch.distributed as dist
        method, rank = sys.argv[1:]
        dist.init_process_group('gloo', init_method=method, rank=int(rank), world_size=2)
        total = torch.tensor([int(rank) + 1.0])
        dist.all_reduce(total)
        print(method.split(':')[0], method.split('/')[2].split(':')[0], total.item())
        dist.destroy_process_group()
    """
    words = ("$AZ_BATCHAI_PYTORCH_INIT_METHOD", "$AZ_BATCHAI_TASK_INDEX")
    distribution = PyTorchConfiguration(communication_backend="Gloo", node_count=2)
    run = gangs.gang(script, *words, distribution=distribution, python=environment("torch"))
    gangs.finish(run)
    addresses = [place.ground.address_of(node) for node in place.cluster.nodes]
    said = [gangs.log(run, rank).splitlines()[-1] for rank in (0, 1)]  # before it, torch misses the names of nodes
    assert said[0] == said[1]
    assert said[0] in [f"tcp {address} 3.0" for address in addresses]


@pytest.mark.parametrize("mpi", ["openmpi", "openmpi5", "mpich"])
def test_mpi_needs_no_ssh(gangs: GangYard, mpi: str) -> None:
    script = """
        import socket
        from mpi4py import MPI
        world = MPI.COMM_WORLD
        print(world.rank, 'of', world.size, *world.allgather(socket.gethostname()))
    """
    distribution = MpiConfiguration(process_count_per_node=2, node_count=2)
    run = gangs.gang(script, distribution=distribution, python=environment(mpi))
    gangs.finish(run)
    hosts = gangs.log(run, 0).split()[3:]
    assert hosts[0] == hosts[1] != hosts[2] == hosts[3]
    for rank in range(4):
        assert gangs.log(run, rank).split() == [str(rank), "of", "4", *hosts]


def test_a_node_that_falls_silent_is_lost(gangs: GangYard, place: Apart, signs: Path) -> None:
    """Its cable is pulled: no connection breaks, nothing is heard. It ends what it runs, and tells of it later."""
    run = gangs.gang(STAYS, signs, distribution=TWO_BY_TWO)
    wait_signs(gangs, signs, "begun")
    place.ground.cut_off(place.node_of(gangs, run, 1))
    gangs.finish(run, "Failed")
    error = gangs.error(run)
    assert "NodeLost" in error
    assert "node 1" in error.lower()
    gangs.wait(lambda: not place.ranks(gangs, run), "the ranks of both nodes to go")
    place.ground.connect()
    for rank in range(4):
        gangs.wait(lambda rank=rank: gangs.log(run, rank) == "begun\nended\n", f"the log of rank {rank}")  # type: ignore[misc]


def test_a_leader_that_falls_silent_tells_later(gangs: GangYard, place: Apart, signs: Path) -> None:
    run = gangs.gang(STAYS, signs, distribution=TWO_BY_TWO)
    wait_signs(gangs, signs, "begun")
    place.ground.cut_off(place.node_of(gangs, run, 0))
    gangs.wait(lambda: not place.ranks(gangs, run), "the ranks of both nodes to go")
    place.ground.connect()
    gangs.finish(run, "Failed")
    assert "NodeLost" in gangs.error(run)
    for rank in range(4):
        assert gangs.log(run, rank) == "begun\nended\n"


def test_a_node_that_dies_is_lost(gangs: GangYard, place: Apart, signs: Path) -> None:
    run = gangs.gang(STAYS, signs, distribution=TWO_BY_TWO)
    wait_signs(gangs, signs, "begun")
    gangs.wait(lambda: all(gangs.log(run, rank) for rank in range(4)), "the logs to arrive")
    place.kill_node(gangs, run, 1)
    gangs.finish(run, "Failed")
    assert "NodeLost" in gangs.error(run)
    assert [gangs.log(run, rank) for rank in range(4)] == ["begun\nended\n"] * 2 + ["begun\n"] * 2


def test_a_former_leader_that_comes_back_adds_nothing(gangs: GangYard, place: Apart, signs: Path) -> None:
    """Slurm gives the node up that leads, and the run starts again elsewhere, while the former leader is still alive:
    out of reach, it cannot be told. What it has to say later is the first attempt's, not the second's."""
    script = re.sub("(begun|ended)'", r"\1' + os.environ['AZUREML_RUN_RESTART_COUNT']", STAYS)
    run = gangs.gang(script, signs, distribution=TWO_BY_TWO)
    wait_signs(gangs, signs, "begun0")
    leader = place.node_of(gangs, run, 0)
    place.ground.cut_off(leader)
    place.cluster.run("scontrol", "update", f"NodeName={leader}", "State=DOWN", "Reason=test")
    wait_signs(gangs, signs, "begun1")
    gangs.wait(lambda: leader not in {each["SLURMD_NODENAME"] for each in place.ranks(gangs, run)}, "its ranks to go")
    place.ground.connect()
    gangs.wait(lambda: not place.is_on(leader, gangs, run), "the former leader to go")
    run.cancel()
    gangs.finish(run, "Canceled")
    for rank in range(4):
        assert gangs.log(run, rank) == "begun1\nended1\n"
        assert gangs.log(run, rank, "user_logs/attempt_1") == "begun0\nended0\n"


def test_a_server_that_is_killed_is_found_again(gangs: GangYard, signs: Path) -> None:
    script = BEGUN + (
        "from azureml.core import Run\n"
        "run, step = Run.get_context(), 0\n"
        "while not os.path.exists(f'{signs}.end'):\n"
        "    run.log(f'step of {rank}', step)\n"
        "    step += 1\n"
        "    if step in (20, 60):\n"
        "        sign('begun' if step == 20 else 'gone on')\n"
        "    time.sleep(0.02)\n"
        "print('steps', step)\n"
        "os.makedirs('outputs', exist_ok=True)\n"
        "open(f'outputs/{rank}.txt', 'w').close()\n"
        "run.log(f'steps of {rank}', step)\n"
    )
    run = gangs.gang(script, signs, distribution=TWO_BY_TWO)
    wait_signs(gangs, signs, "begun")
    before = gangs.server.url
    gangs.kill_server()
    wait_signs(gangs, signs, "gone on")
    assert run.get_status() in ("Starting", "Preparing", "Running"), "the server is back, and takes the gang up again"
    assert gangs.server.url == before
    Path(f"{signs}.end").touch()
    gangs.finish(run)
    metrics = run.get_metrics()
    for rank in range(4):
        steps = int(metrics[f"steps of {rank}"])
        assert metrics[f"step of {rank}"] == list(range(steps))
        assert gangs.log(run, rank) == f"steps {steps}\n"
    assert set(run.get_file_names()) >= OUTPUTS


def test_each_node_gets_its_outputs_back(gangs: GangYard, signs: Path) -> None:
    script = BEGUN + (
        "os.makedirs('outputs', exist_ok=True)\n"
        "if os.environ['AZUREML_RUN_RESTART_COUNT'] != '0':\n"
        "    print(*sorted(os.listdir('outputs')), open('outputs/checkpoint').read())\n"
        "    sys.exit()\n"
        "if rank in (0, 2):\n"
        "    with open('outputs/checkpoint', 'w') as file:\n"
        "        file.write(f'of node {node}')\n"
        "sign('begun')\n"
        "time.sleep(600)\n"
    )
    run = gangs.gang(script, signs, distribution=TWO_BY_TWO)
    wait_signs(gangs, signs, "begun")
    gangs.runyard("preempt", run.id)
    gangs.finish(run)
    for rank in range(4):
        assert gangs.log(run, rank) == f"checkpoint of node {rank // 2}\n"
    assert gangs.shown(run)["attempt"] == 2


def test_python_3_8_is_enough_on_the_nodes(gangs: GangYard, place: Apart) -> None:
    python = old_python()
    wanted = SlurmCompute.attach_configuration(
        partition="main", conf=str(place.cluster.conf), exclusive=True, python=str(python)
    )
    ComputeTarget.attach(gangs.workspace, "old-python", wanted)
    script = """
        import os, sys
        from azureml.core import Dataset, Run
        run = Run.get_context()
        run.log('version', sys.version_info[1])
        os.makedirs('outputs', exist_ok=True)
        open('outputs/kept.txt', 'w').close()
        print('on', sys.version_info[:2])
    """
    alone = gangs.gang_config(script, python=python)
    together = gangs.gang_config(script, distribution=TWO_BY_TWO, python=python)
    runs = []
    for config in (alone, together):
        config.run_config.target = "old-python"
        runs.append(gangs.send(config))
    for run in runs:
        gangs.finish(run)
        assert "outputs/kept.txt" in run.get_file_names()
    assert runs[0].get_metrics() == {"version": 8}
    assert runs[1].get_metrics() == {"version": [8, 8, 8, 8]}
    assert [gangs.log(runs[1], rank) for rank in range(4)] == ["on (3, 8)\n"] * 4


def old_python() -> Path:
    """An interpreter of Python 3.8, by its real path: one on the PATH may only stand for it."""
    versions = Path(pwd.getpwuid(os.getuid()).pw_dir) / ".pyenv" / "versions"
    for found in (shutil.which("python3.8"), *versions.glob("3.8.*/bin/python3.8")):
        if found is not None:
            done = subprocess.run([found, "-c", "import sys; print(sys.executable)"], capture_output=True, text=True)
            if done.returncode == 0:
                return Path(done.stdout.strip())
    pytest.skip("there is no python3.8 on PATH or in ~/.pyenv/versions")
