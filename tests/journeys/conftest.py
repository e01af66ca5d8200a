"""A yard of one's own: a fresh home, the SDK as a user has it, and the certainty that nothing is left afterwards."""

from __future__ import annotations

import os
import signal
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import psutil
import pytest
from tests.conftest import link_sdk
from tests.support.waiting import wait_until

from azureml.core import Environment, Experiment, Run, ScriptRunConfig, Workspace
from runyard.client.server_process import stop_server
from runyard.contracts.home import Running, read_server

DEADLINE = 120.0


class Yard:
    """What a user has at hand: a workspace, a folder for projects, and a way to wait for things."""

    def __init__(self, home: Path, folder: Path) -> None:
        self.home = home
        self.folder = folder
        self._projects = 0

    @property
    def workspace(self) -> Workspace:
        return Workspace.from_config(path=str(self.folder))

    @property
    def server(self) -> Running:
        running = read_server(self.home)
        assert running is not None, "no server is running"
        return running

    def project(self, script: str, name: str = "train.py") -> Path:
        self._projects += 1
        folder = self.folder / f"project-{self._projects}"
        folder.mkdir()
        (folder / name).write_text(textwrap.dedent(script))
        return folder

    def config(self, script: str, *arguments: object, max_seconds: int | None = None) -> ScriptRunConfig:
        environment = Environment("user-managed-env")
        environment.python.user_managed_dependencies = True
        return ScriptRunConfig(
            source_directory=str(self.project(script)),
            script="train.py",
            arguments=list(arguments),
            compute_target="local",
            environment=environment,
            max_run_duration_seconds=max_seconds,
        )

    def submit(self, script: str, *arguments: object, max_seconds: int | None = None) -> Run:
        return Experiment(self.workspace, "journey").submit(self.config(script, *arguments, max_seconds=max_seconds))

    def kill_server(self) -> None:
        """As the kernel would: no chance to say goodbye."""
        pid = self.server.pid
        os.kill(pid, signal.SIGKILL)
        self.wait(lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)

    def wait(self, condition: Callable[[], object], what: str = "") -> None:
        wait_until(condition, what)

    def processes(self, *called: str) -> list[psutil.Process]:
        """Every process that belongs to this home: server, node runners, shippers, scripts and what they started; with
        `called`, only those that have one of these words in their command."""
        mine = []
        for process in psutil.process_iter():
            try:
                command = process.cmdline()
                words = [*command, *process.environ().values()]
            except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
                continue
            ours = process.pid != os.getpid() and any(str(self.home) in word for word in words)
            if ours and (not called or any(word in command for word in called)):
                mine.append(process)
        return mine

    def runner_of(self, run: Run) -> psutil.Process:
        """The node runner of a run."""
        [runner] = self.processes(str(self.home / "runs" / run.id))
        return runner


AYard = TypeVar("AYard", bound=Yard)


@pytest.fixture
def yard(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Yard]:
    folder = tmp_path / "projects"
    folder.mkdir()
    monkeypatch.chdir(folder)
    with closing(Yard(home, folder)) as yard:
        yield yard


@pytest.fixture(scope="module")
def yard_of_the_module(tmp_path_factory: pytest.TempPathFactory, laid_sdk: Path) -> Iterator[Yard]:
    place = tmp_path_factory.mktemp("yard")
    (place / "home").mkdir(mode=0o700)
    (place / "projects").mkdir()
    link_sdk(place / "home", laid_sdk)
    with closing(Yard(place / "home", place / "projects")) as yard:
        yield yard


@pytest.fixture
def shared_yard(yard_of_the_module: Yard, monkeypatch: pytest.MonkeyPatch) -> Yard:
    """A yard for all stories of a module that leave its server alone: to start one takes two seconds of CPU."""
    monkeypatch.setenv("RUNYARD_HOME", str(yard_of_the_module.home))
    monkeypatch.chdir(yard_of_the_module.folder)
    return yard_of_the_module


@contextmanager
def closing(yard: AYard) -> Iterator[AYard]:
    """At the end of a good story the server is stopped, and nothing may be left. Whatever happens, nothing is left."""
    try:
        yield yard
        stop_server(yard.home)
        if left := yard.processes():
            wait_until(lambda: not yard.processes(), f"the end of {left}", 30)
    finally:
        stop_server(yard.home)
        for process in yard.processes():
            process.kill()
