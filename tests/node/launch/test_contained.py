"""Programs in containers, as the node runner starts and ends them: through a process that stands for the container."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import docker
import pytest
from tests.environments.containers.conftest import DEADLINE, wait_for
from tests.support.docker_engine import BASE

import runyard
from runyard.environments.containers.runtime import contained_argv, container_name, remove_containers
from runyard.environments.problem import EnvironmentProblem
from runyard.node.launch.processes import COOKIE
from runyard.system.processes import end_with_parent

pytestmark = pytest.mark.xdist_group("docker")

SDK = str(Path(runyard.__file__).parent.parent)


class Contained:
    """A run's folder, and the process that stands for its container."""

    def __init__(self, client: docker.DockerClient, folder: Path, run_id: str) -> None:
        self.client, self.folder, self.run_id = client, folder, run_id
        self.process: subprocess.Popen[bytes] | None = None

    def start(
        self,
        program: str,
        *words: str,
        variables: Mapping[str, str] | None = None,
        image: str = BASE,
        argv: list[str] | None = None,
        through: Sequence[str] = (),
        **options: Any,
    ) -> None:
        (self.folder / "work/train.py").write_text(program)
        known = {"PYTHONPATH": SDK, "PYTHONUNBUFFERED": "1", COOKIE: "secret-of-the-runner", **(variables or {})}
        argv = contained_argv(
            self.folder, SDK, self.run_id, image, argv or ["python3", "train.py", *words], known, options
        )
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [*through, *argv],
                cwd=self.folder / "work",
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=end_with_parent(),
            )

    def wait(self) -> int:
        """How it ended: the exit code, or minus the signal."""
        assert self.process is not None
        return self.process.wait(DEADLINE)

    def run(self, program: str, *words: str, **how: Any) -> int:
        self.start(program, *words, **how)
        return self.wait()

    @property
    def log(self) -> Path:
        return self.folder / "streams/std_log.txt"

    @property
    def text(self) -> str:
        return self.log.read_text()

    def says(self, word: str) -> None:
        wait_for(lambda: word in self.text, f"{word!r} in the log")

    def containers(self) -> list[str]:
        # docker-py asks for each that the engine has listed: one that has gone meanwhile would be an error.
        label = f"runyard.run={self.run_id}"
        found = self.client.containers.list(all=True, filters={"label": label}, ignore_removed=True)
        return [str(each.status) for each in found]


@pytest.fixture
def contained(engine_address: str, tmp_path: Path) -> Iterator[Contained]:
    folder = tmp_path / "a run"
    (folder / "work").mkdir(parents=True)
    (folder / "streams").mkdir()
    client = docker.DockerClient(base_url=engine_address)
    made = Contained(client, folder, f"trial_1_{os.urandom(4).hex()}")
    yield made
    if made.process is not None and made.process.poll() is None:
        made.process.kill()
        made.process.wait()
    remove_containers(made.run_id, print)
    client.close()


def test_a_program_sees_its_folder_its_variables_and_the_sdk(contained: Contained) -> None:
    program = """
import os, azureml.core, runyard
from pathlib import Path
Path("outputs").mkdir()
Path("outputs/made").write_text("x")
print("in", os.getcwd())
print("sdk", runyard.__file__)
print("colour", os.environ["COLOUR"], os.environ["SHAPE"])
print("cookie", os.environ.get("RUNYARD_COOKIE"))
print("path", os.environ["PATH"])
print("user", os.getuid())
shm = os.statvfs("/dev/shm")
print("shm", shm.f_blocks * shm.f_frsize // 2**20)
"""
    code = contained.run(program, variables={"COLOUR": "green"}, shm_size="64m", arguments=["-e", "SHAPE=round"])
    assert code == 0, contained.text
    said = dict(line.split(" ", 1) for line in contained.text.splitlines())
    assert said == {
        "in": str(contained.folder / "work"),
        "sdk": f"{SDK}/runyard/__init__.py",
        "colour": "green round",
        "cookie": "None",
        "path": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
        "user": str(os.getuid()),
        "shm": "64",
    }
    made = contained.folder / "work/outputs/made"
    assert (made.read_text(), made.stat().st_uid) == ("x", os.getuid())
    assert contained.containers() == []


def test_the_exit_code_is_that_of_the_program_and_the_log_is_complete(contained: Contained) -> None:
    program = "import sys\nfor i in range(20000): print('line', i)\nprint('the end', file=sys.stderr)\nsys.exit(7)\n"
    assert contained.run(program) == 7
    assert contained.text.splitlines() == [*(f"line {i}" for i in range(20000)), "the end"]


def test_sigterm_reaches_the_program(contained: Contained) -> None:
    program = """
import signal, sys, time
def stop(*_):
    print("cleaning up")
    sys.exit(3)
signal.signal(signal.SIGTERM, stop)
print("ready")
while True: time.sleep(1)
"""
    contained.start(program)
    contained.says("ready")
    assert contained.process is not None
    contained.process.terminate()
    assert contained.wait() == 3
    assert contained.text.splitlines() == ["ready", "cleaning up"]
    assert contained.containers() == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV])
def test_a_program_that_a_signal_ends_is_seen_to_end_by_it(contained: Contained, number: signal.Signals) -> None:
    assert contained.run(f"import os\nos.kill(os.getpid(), {int(number)})\n") == -number
    assert contained.containers() == []


def test_a_container_whose_process_was_killed_is_removed(contained: Contained) -> None:
    contained.start("import time\nprint('ready')\ntime.sleep(600)\n")
    contained.says("ready")
    assert contained.process is not None
    contained.process.kill()
    contained.wait()
    assert contained.containers() == ["running"]
    said: list[str] = []
    remove_containers(contained.run_id, said.append)
    assert contained.containers() == []
    assert said == [f"removing the container {container_name(contained.run_id)}"]
    remove_containers(contained.run_id, said.append)
    assert len(said) == 1


def test_a_container_ends_with_its_node_runner_though_nobody_takes_over(contained: Contained) -> None:
    runner = (
        "import subprocess, sys\n"
        "from runyard.system.processes import end_with_parent\n"
        "subprocess.run(sys.argv[1:], preexec_fn=end_with_parent(), start_new_session=True)\n"
    )
    contained.start("import time\nprint('ready')\ntime.sleep(600)\n", through=[sys.executable, "-c", runner])
    contained.says("ready")
    assert contained.process is not None
    contained.process.kill()
    wait_for(lambda: contained.containers() == [], "the container to go")


def test_running_out_of_memory_is_said(contained: Contained) -> None:
    program = "held = []\nwhile True: held.append(bytearray(b'x' * 2**20))\n"
    assert contained.run(program, arguments=["--memory", "64m", "--memory-swap=64m"]) == -signal.SIGKILL
    assert "The container ran out of memory (--memory 64m)" in contained.text


def test_a_program_that_is_not_there_is_named(contained: Contained) -> None:
    assert contained.run("", argv=["no-such-program"]) == 127
    assert "no-such-program: not found" in contained.text


def test_an_image_that_is_gone_is_named(contained: Contained) -> None:
    assert contained.run("", image="runyard/environment:gone") == 125
    assert "No such image: runyard/environment:gone" in contained.text


def test_an_argument_that_is_not_supported_is_refused_before_anything_starts(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentProblem, match="'--privileged' is not supported"):
        contained_argv(tmp_path, SDK, "r1", BASE, ["true"], {}, {"arguments": ["--privileged"]})


def test_removing_does_nothing_where_there_is_no_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    said: list[str] = []
    remove_containers("trial_1_none", said.append)
    assert said == []


def test_the_order_is_for_the_user_alone(tmp_path: Path) -> None:
    program, isolated, file, order = contained_argv(tmp_path, SDK, "r1", BASE, ["true"], {"TOKEN": "x"}, {})
    assert (program, isolated) == (sys.executable, "-I")
    assert Path(file).is_file()
    assert os.stat(order).st_mode & 0o077 == 0


def test_no_engine_is_said_in_the_log(contained: Contained, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{contained.folder}/none.sock")
    assert contained.run("") == 125
    assert "no container engine answers on this machine" in contained.text
    monkeypatch.undo()
