"""The layer is put in reach where a script needs it, never in the way of a real Horovod, and the run says so."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from runyard.contracts.distribution import MPI, Distribution
from runyard.contracts.environment import Specification
from runyard.contracts.plan import Launch, Plan
from runyard.environments.builder import Built
from runyard.node.prepare import horovod

if TYPE_CHECKING:
    from tests.node.conftest import Gang

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
