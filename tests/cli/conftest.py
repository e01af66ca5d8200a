"""One server per worker for the tests of the command, and the command itself as users call it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from runyard.client.server_process import stop_server

RUNYARD = Path(sys.executable).with_name("runyard")
SECONDS = 120


@dataclass(frozen=True)
class Shell:
    """A user at a prompt: calls `runyard` with a home folder of the test's own, in a folder of the test's own."""

    home: Path
    folder: Path

    def environment(self, **more: str) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("RUNYARD_", "AZUREML_"))}
        return {**kept, "RUNYARD_HOME": str(self.home), "RUNYARD_PORT": "0", **more}

    def start(self, *words: str, **options: Any) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [str(RUNYARD), *words],
            cwd=self.folder,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **options,
        )

    def call(self, *words: str, expect: int = 0, **variables: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [str(RUNYARD), *words],
            cwd=self.folder,
            env=self.environment(**variables),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == expect, f"{words}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def on_terminal(self, *words: str, answer: str = "") -> tuple[int, str]:
        """Call the command on a terminal, type an answer, and return its exit code and what was on the screen."""
        leader, follower = os.openpty()
        process = subprocess.Popen(
            [str(RUNYARD), *words],
            cwd=self.folder,
            env=self.environment(TERM="xterm-256color", COLUMNS="200"),
            stdin=follower,
            stdout=follower,
            stderr=follower,
        )
        os.close(follower)
        os.write(leader, answer.encode())
        shown = b""
        try:
            while chunk := os.read(leader, 65536):
                shown += chunk
        except OSError:  # how Linux tells that the other end has been closed
            pass
        finally:
            os.close(leader)
        return process.wait(timeout=SECONDS), shown.decode()

    def json(self, *words: str, expect: int = 0) -> Any:
        return json.loads(self.call(*words, "--json", expect=expect).stdout)

    def refusal(self, *words: str, expect: int) -> dict[str, Any]:
        """The error document of a call that must fail, which prints nothing else."""
        done = self.call(*words, "--json", expect=expect)
        assert done.stdout == ""
        error: dict[str, Any] = json.loads(done.stderr)["error"]
        return error

    def script(self, text: str, name: str = "train.py") -> str:
        """A script in a project folder whose name no other test has, so that its experiment is its own."""
        project = self.folder / f"project-{uuid.uuid4().hex[:8]}"
        project.mkdir()
        (project / name).write_text(textwrap.dedent(text))
        return str(project / name)

    def completed(self, text: str = "print('hello')", *arguments: str) -> Any:
        """A run that has completed, as JSON."""
        last = self.call("submit", "--json", "-f", self.script(text), "--", *arguments).stdout.splitlines()[-1]
        return json.loads(last)["run"]


@pytest.fixture(scope="session")
def cli_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    home = tmp_path_factory.mktemp("cli") / "home"
    try:
        yield home
    finally:
        stop_server(home)


@pytest.fixture
def shell(cli_home: Path, tmp_path: Path) -> Shell:
    """A user whose server is shared with the other tests of this worker, and is started by the first command."""
    return Shell(cli_home, tmp_path)


@pytest.fixture
def fresh_shell(tmp_path: Path) -> Iterator[Shell]:
    """A user on a new machine: no home folder, no server."""
    shell = Shell(tmp_path / "new" / "home", tmp_path)
    try:
        yield shell
    finally:
        stop_server(shell.home)


@pytest.fixture
def name() -> str:
    """A name for something on the shared server, of the test's own."""
    return f"own-{uuid.uuid4().hex[:8]}"
