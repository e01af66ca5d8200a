"""Starts a script as the ranks of one job on this machine, with the layer for Horovod in reach and no server: the
checks of the layer itself. The launch by Runyard is tested in the journeys."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.support.ports import free_port

ROOT = Path(__file__).resolve().parents[2]
COMPAT = ROOT / "src" / "runyard" / "compat"

FORKS = ROOT / "tests" / "support" / "horovod_forks.py"

LIMIT = 300.0


@dataclass(frozen=True)
class Gang:
    """How the ranks have ended, and what each wrote."""

    codes: list[int]
    outputs: list[str]
    reports: list[dict[str, str]]

    def passed(self, check: str) -> None:
        """Fail unless the check went well on every rank."""
        for rank, report in enumerate(self.reports):
            assert check in report, f"rank {rank} has not come to {check}:\n{self.outputs[rank][-4000:]}"
            assert report[check] == "ok", f"rank {rank}:\n{report[check]}"


def start(python: Path | str, script: Path | str, folder: Path, size: int, nodes: int = 1, **variables: str) -> Gang:
    """Run a script to its end on so many ranks."""
    environments = _environments(folder, size, nodes, variables)
    processes = []
    for environment in environments:
        with open(environment["RANK_LOG"], "wb") as log:
            processes.append(
                subprocess.Popen(
                    [str(python), str(script)],
                    cwd=folder,
                    env={**_own(), **environment},
                    stdout=log,
                    stderr=subprocess.STDOUT,
                )
            )
    try:
        codes = [process.wait(LIMIT) for process in processes]
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
                process.wait()
    return _gang(folder, codes)


def fork(
    python: Path | str, modules: str, script: Path | str, folder: Path, size: int, nodes: int = 1, **variables: str
) -> Gang:
    """The same, where the ranks are forked from one process that has imported modules which take long."""
    environments = _environments(folder, size, nodes, variables)
    process = subprocess.Popen(
        [str(python), str(FORKS), str(script), modules, *map(json.dumps, environments)],
        cwd=folder,
        env={**_own(), **environments[0]},
        stdout=subprocess.PIPE,
    )
    try:
        said, _ = process.communicate(timeout=LIMIT)
    finally:
        if process.poll() is None:
            process.terminate()  # and its ranks with it
            process.wait()
    return _gang(folder, json.loads(said))


def _own() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(("RUNYARD_", "PYTHON"))}


def _environments(folder: Path, size: int, nodes: int, variables: dict[str, str]) -> list[dict[str, str]]:
    """What each rank has on top of the variables of this process."""
    port = free_port()
    reports = folder / "reports"
    reports.mkdir(parents=True, exist_ok=True)
    each = size // nodes
    return [
        {
            "PYTHONPATH": f"{COMPAT}{os.pathsep}{ROOT}",
            "RANK": str(rank),
            "WORLD_SIZE": str(size),
            "LOCAL_RANK": str(rank % each),
            "LOCAL_WORLD_SIZE": str(each),
            "NODE_RANK": str(rank // each),
            "RUNYARD_HOROVOD_ADDRESS": f"127.0.0.1:{port}",
            "AZUREML_RUN_TOKEN": "secret of the run",
            "OMP_NUM_THREADS": "1",
            "HOROVOD_START_TIMEOUT": "120",
            "REPORTS": str(reports),
            "RANK_LOG": str(folder / f"rank_{rank}.log"),
            "TF_CPP_MIN_LOG_LEVEL": "2",
            **variables,
        }
        for rank in range(size)
    ]


def _gang(folder: Path, codes: list[int]) -> Gang:
    outputs = [(folder / f"rank_{rank}.log").read_text("utf-8", "replace") for rank in range(len(codes))]
    return Gang(codes, outputs, [_report(folder / "reports" / f"{rank}.json") for rank in range(len(codes))])


def _report(path: Path) -> dict[str, str]:
    if not path.exists():
        return {}
    report: dict[str, str] = json.loads(path.read_text("utf-8"))
    return report
