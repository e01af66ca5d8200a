"""Starts a script as the ranks of one job on this machine, with the layer for Horovod in reach and no server: the
checks of the layer itself. The launch by Runyard is tested in the journeys."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMPAT = ROOT / "src" / "runyard" / "compat"

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
    port = free_port()
    reports = folder / "reports"
    reports.mkdir(parents=True, exist_ok=True)
    processes = []
    each = size // nodes
    for rank in range(size):
        log = (folder / f"rank_{rank}.log").open("wb")
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("RUNYARD_", "PYTHON"))},
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
            "TF_CPP_MIN_LOG_LEVEL": "2",
            **variables,
        }
        processes.append(
            subprocess.Popen(
                [str(python), str(script)], cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT
            )
        )
        log.close()
    try:
        codes = [process.wait(LIMIT) for process in processes]
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
                process.wait()
    outputs = [(folder / f"rank_{rank}.log").read_text("utf-8", "replace") for rank in range(size)]
    return Gang(codes, outputs, [_report(reports / f"{rank}.json") for rank in range(size)])


def _report(path: Path) -> dict[str, str]:
    if not path.exists():
        return {}
    report: dict[str, str] = json.loads(path.read_text("utf-8"))
    return report


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
