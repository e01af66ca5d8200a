"""If these fail, a node of a cluster does not become a node runner, or the token of a run can be read by others."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.engines.conftest import gang_of

from runyard.contracts.plan import Plan
from runyard.engines.base import EngineError, Gang
from runyard.engines.folders import RunFolders
from runyard.engines.hand_over import WITNESS, Parcel, hand_over
from runyard.node.gang import link

# Stands in for the runner: it says where it was started, and with what, and ends.
SAYS_WHERE = """
import json, os, sys
print(json.dumps({"folder": sys.argv[1], "cwd": os.getcwd(), "token": os.environ.get("RUNYARD_RUN_TOKEN")}))
"""


@pytest.fixture
def gang(home: Path, tmp_path: Path) -> Gang:
    """A gang whose code says where it was started."""
    code = tmp_path / "code"
    (code / "runyard" / "node").mkdir(parents=True)
    (code / "runyard" / "node" / "__main__.py").write_text(SAYS_WHERE)
    first = gang_of(home, nodes=2, command="true")
    for plan in first.plans:
        object.__setattr__(plan, "sdk", str(code))
    return first


def become(parcel: Parcel, node: int, **variables: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, *parcel.arguments, str(node)]
    around = {"PATH": os.environ["PATH"], **parcel.environment, **variables}
    return subprocess.run(argv, env=around, text=True, capture_output=True, timeout=60, check=False)


def test_a_node_that_sees_the_disk_works_in_the_folder_that_lies_there(gang: Gang, home: Path) -> None:
    parcel = hand_over(gang, RunFolders(home / "runs"))
    done = become(parcel, 1)
    assert done.returncode == 0, done.stderr
    folder = home / "runs" / "run-1@1"
    said = json.loads((folder / "streams" / "runner.log").read_text())
    assert said == {"folder": str(folder), "cwd": str(folder), "token": None}


def test_a_node_that_comes_after_its_leader_sees_the_disk_as_well(gang: Gang, home: Path) -> None:
    parcel = hand_over(gang, RunFolders(home / "runs"))
    (home / "runs" / "run-1" / link.WITNESS).write_text("of the leader, which has begun")
    assert become(parcel, 1).returncode == 0
    assert (home / "runs" / "run-1@1" / "streams" / "runner.log").exists()


def test_the_token_is_in_no_argument(gang: Gang, home: Path) -> None:
    parcel = hand_over(gang, RunFolders(home / "runs"))
    assert not any(gang.plans[0].token in argument for argument in parcel.arguments)
    assert gang.plans[0].token in parcel.environment.values()


def test_a_server_that_a_node_cannot_reach_is_said_in_words(gang: Gang, home: Path, tmp_path: Path) -> None:
    parcel = hand_over(gang, RunFolders(home / "runs"))
    (home / "runs" / "run-1" / WITNESS).write_text("of another gang")
    impatient = [argument.replace("PATIENCE = 60.0", "PATIENCE = 0.0") for argument in parcel.arguments]
    done = become(Parcel(impatient, parcel.environment), 1, RUNYARD_NODE_HOME=str(tmp_path / "node"))
    assert done.returncode == 1
    assert "http://127.0.0.1:9" in done.stderr
    assert "runyard serve --host" in done.stderr


def test_a_disk_that_cannot_be_written_is_an_error_of_the_engine(gang: Gang, home: Path) -> None:
    home.mkdir(parents=True, exist_ok=True)
    (home / "runs").write_text("in the way")
    with pytest.raises(EngineError):
        hand_over(gang, RunFolders(home / "runs"))


def test_plans_are_read_as_they_were_written(gang: Gang, home: Path) -> None:
    hand_over(gang, RunFolders(home / "runs"))
    manifest = None if gang.manifest is None else gang.manifest.decode()
    assert Plan.load(home / "runs" / "run-1@1") == replace(gang.plans[1], manifest=manifest)
