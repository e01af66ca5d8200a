"""The layer is put in reach where a script needs it, never in the way of a real Horovod, and the run says so."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.support import wheels

from runyard.contracts.distribution import MPI, Distribution
from runyard.contracts.environment import Specification
from runyard.contracts.plan import Launch, Plan
from runyard.environments.builder import Built
from runyard.node.prepare import horovod

if TYPE_CHECKING:
    from tests.node.conftest import Gang, Prepare

LOOK = """
import os
import horovod
print(os.path.dirname(horovod.__file__), getattr(horovod, "RUNYARD", False))
print(*(os.environ["OMPI_COMM_WORLD_" + name] for name in ("RANK", "SIZE", "LOCAL_RANK", "LOCAL_SIZE")))
print(os.environ["RUNYARD_HOROVOD_ADDRESS"] != os.environ["MASTER_ADDR"] + ":" + os.environ["MASTER_PORT"])
"""


def plan(distribution: Distribution, interpreter: str = "/nowhere/bin/python", **launch: Any) -> Plan:
    names = ("run_id", "root_run_id", "experiment", "experiment_id", "workspace", "subscription_id", "resource_group")
    known = dict.fromkeys((*names, "target", "token", "server_url"), "x")
    made = Launch(interpreter=interpreter, distribution=distribution.as_dict(), **launch)
    return Plan(**known, launch=made, sdk="/sdk")  # type: ignore[arg-type]


def test_where_the_layer_is_in_reach(tmp_path: Path) -> None:
    mpi, alone = plan(Distribution(MPI, 1, 2)), plan(Distribution())
    assert horovod.layer(mpi, None) == "/sdk/runyard/compat"
    assert horovod.layer(alone, None) == ""
    assert horovod.layer(alone, Built("python", layers=["horovod"])) == "/sdk/runyard/compat"
    assert horovod.layer(replace(mpi, real_horovod=True), None) == ""
    (tmp_path / "lib" / "python3.11" / "site-packages" / "horovod").mkdir(parents=True)
    assert horovod.layer(plan(Distribution(MPI, 1, 2), str(tmp_path / "bin" / "python")), None) == ""
    assert horovod.layer(mpi, Built("python", folder=str(tmp_path))) == ""


@pytest.mark.parametrize(
    ("environment", "script", "why"),
    [
        (Specification(pip=("mpi4py==4.0",)), "", "lists mpi4py"),
        (Specification(conda=("openmpi",)), "", "lists openmpi"),
        (Specification(), "from mpi4py import MPI", "train.py uses mpi4py"),
        (Specification(pip=("torch", "horovod")), "import horovod.torch as hvd", ""),
    ],
)
def test_what_talks_mpi_itself_does_not_start_without(
    tmp_path: Path, environment: Specification, script: str, why: str
) -> None:
    (tmp_path / "train.py").write_text(script)
    made = plan(Distribution(MPI, 1, 2), script="train.py", environment=environment.as_dict())
    assert why in horovod.needs_mpi(made, tmp_path)
    assert bool(horovod.needs_mpi(made, tmp_path)) is bool(why)


@pytest.mark.parametrize("nodes", [1, 2])
def test_ranks_start_without_any_mpi_and_find_the_layer(gang: Any, nodes: int) -> None:
    made: Gang = gang(
        {"train.py": LOOK},
        Distribution(MPI, nodes, 2 * nodes),
        environment_variables={"PATH": "/usr/bin:/bin"},
        interpreter=sys.executable,
        environment={"interpreter": sys.executable},
    )
    result = made.finish()
    assert result["status"] == "Completed", result["error"]
    for rank in range(2 * nodes):
        where, place, apart = made.std_log(rank).splitlines()
        assert where.endswith("/compat/horovod True")
        assert place == f"{rank} {2 * nodes} {rank % 2} 2"
        assert apart == "True"


def test_a_real_horovod_wins_wherever_it_is(gang: Any, tmp_path: Path) -> None:
    (tmp_path / "real" / "horovod").mkdir(parents=True)
    (tmp_path / "real" / "horovod" / "__init__.py").write_text("__version__ = 'real'")
    (tmp_path / "real" / "horovod" / "torch.py").write_text("kind = 'real torch'")
    script = "import sys; sys.path.append(sys.argv[1]); import horovod.torch as hvd; print(hvd.kind)"
    made: Gang = gang(
        {"train.py": script},
        Distribution(MPI, 1, 1),
        environment_variables={"PATH": "/usr/bin:/bin"},
        arguments=[str(tmp_path / "real")],
    )
    result = made.finish()
    assert result["status"] == "Completed", result["error"]
    assert made.std_log(0) == "real torch\n"


MEET = """
import os, sys
from horovod.core.negotiator import Negotiator
from horovod.core.places import find
ranks = Negotiator(find(os.environ))
ranks.barrier("first")
if sys.argv[1] == "die" and ranks.place.rank == 1:
    os._exit(7)
ranks.barrier(f"of rank {ranks.place.rank}" if sys.argv[1] == "disagree" else "second")
"""


def meeting(gang: Any, how: str) -> Gang:
    made: Gang = gang(
        {"train.py": MEET},
        Distribution(MPI, 2, 2),
        environment_variables={"PATH": "/usr/bin:/bin", "RUNYARD_HOROVOD_STUCK_SECONDS": "0.5"},
        arguments=[how],
    )
    return made


def test_a_rank_that_dies_ends_the_gang_and_is_named(gang: Any) -> None:
    made = meeting(gang, "die")
    error = made.finish()["error"]
    assert (error["rank"], error["node"], error["exit"]["code"]) == (1, 1, 7)


def test_ranks_that_disagree_end_the_gang_with_the_tensors_in_the_error(gang: Any) -> None:
    error = meeting(gang, "disagree").finish()["error"]
    assert "rank 0 for 'of rank 0'; rank 1 for 'of rank 1'" in error["message"]


def test_an_environment_that_lists_horovod_is_built_without_and_the_run_says_so(
    node: Prepare, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    wheels.wheel(shelf, "solo")
    known = {"PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(shelf)}
    for name, value in {**known, "UV_CACHE_DIR": str(tmp_path / "uv")}.items():
        monkeypatch.setenv(name, value)
    trial = node(
        {"train.py": "import horovod, solo; print(horovod.RUNYARD)"},
        plan={"environments": str(tmp_path / "environments")},
        environment=Specification(name="seed", pip=("solo", "horovod==0.19.5")).as_dict(),
    )
    result = trial.finish()
    assert result["status"] == "Completed", result["error"]
    assert trial.run.read("user_logs/std_log.txt") == b"True\n"
    assert "in the place of horovod==0.19.5" in result["properties"][horovod.PROPERTY]
    assert b"horovod==0.19.5 is left out" in trial.run.read("system_logs/environment.log")
    assert b"environments.horovod require" in trial.run.read("system_logs/runner.log")
