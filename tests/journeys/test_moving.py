"""A home folder is moved to another machine as docs/moving.md says, and backed up as docs/server.md does: word for
word, except that the other machine is another user's folder here."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runyard.client.server_process import stop_server

DOCS = Path(__file__).resolve().parents[2] / "docs"
SCRIPT = """
from azureml.core import Run
open("outputs/model", "w").write("weights")
Run.get_context().log("loss", 0.25)
"""


def commands(page: str, holding: str) -> str:
    """The console block of a page in which a text stands, as a program for the shell."""
    blocks = re.findall(r"^```console\n(.*?)^```$", (DOCS / page).read_text("utf-8"), re.MULTILINE | re.DOTALL)
    (block,) = [block for block in blocks if holding in block]
    return "\n".join(line.removeprefix("$ ") for line in block.splitlines())


class Machine:
    """A user with a folder of their own; what they type goes through a real shell."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()

    @property
    def home(self) -> Path:
        return self.folder / ".runyard"

    def types(self, program: str) -> str:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("RUNYARD_", "AZUREML_"))}
        path = f"{Path(sys.executable).parent}{os.pathsep}{kept['PATH']}"
        done = subprocess.run(
            ["bash", "-e", "-c", program],
            cwd=self.folder,
            env={**kept, "HOME": str(self.folder), "PATH": path, "RUNYARD_PORT": "0"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, f"{program}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def shows(self, run_id: str) -> Any:
        shown = json.loads(self.types(f"runyard show {run_id} --json"))
        shown.pop("web_url")
        return shown


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[tuple[Machine, Machine]]:
    made = Machine(tmp_path / "old"), Machine(tmp_path / "new")
    yield made
    for machine in made:
        stop_server(machine.home)


def test_a_moved_home_has_everything_and_a_backup_brings_it_back(machines: tuple[Machine, Machine]) -> None:
    old, new = machines
    (old.folder / "train.py").write_text(SCRIPT)
    last = old.types("runyard submit --json -f train.py").splitlines()[-1]
    run_id = json.loads(last)["run"]["id"]
    before, token = old.shows(run_id), (old.home / "token").read_text()
    built = old.home / "environments" / "built"
    built.mkdir(parents=True)
    (built / "large").write_text("made at this path, and of no use at another")

    assert "No runs" in old.types(commands("moving.md", "--status Running"))
    old.types(commands("moving.md", "tar czf"))
    shutil.move(old.folder / "runyard-home.tar.gz", new.folder)
    told = new.types(commands("moving.md", "tar xzf"))
    assert "each has the bytes that its name says" in told
    assert new.shows(run_id) == before
    assert (new.home / "token").read_text() == token
    assert not (new.home / "environments" / "built").exists()
    new.types(f"runyard get {run_id} outputs/model")
    assert (new.folder / run_id / "outputs/model").read_text() == "weights"

    new.types(commands("server.md", "backup.tar.gz"))
    new.types("runyard down; rm -r .runyard; tar xzf backup.tar.gz; runyard up")
    assert new.shows(run_id) == before
    assert "Completed" in new.types("runyard submit -f ../old/train.py && runyard ls")
