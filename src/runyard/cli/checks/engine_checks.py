"""What `runyard doctor` says of the engines: whether they can be used here, and whether attached clusters answer.

Nothing of this is fatal: a cluster that is away is missed only by the runs on it.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from runyard.cli.checks.check import OK, WARN, Check
from runyard.cli.output import formatting
from runyard.client.http import ClientProblem
from runyard.contracts.compute import RAY, SLURM
from runyard.contracts.installation import installation

if TYPE_CHECKING:
    from runyard.cli.api import Api
    from runyard.contracts.documents import ComputeDocument

SLURM_COMMANDS = ("sbatch", "srun", "squeue", "scontrol", "scancel")
PATIENCE = 20.0


def engines(server: Api | None, here: bool) -> Iterator[Check]:
    """`here`: the server runs on this machine, so what is installed on it counts."""
    targets: list[ComputeDocument] = []
    if server is not None:
        try:
            targets = [target for workspace in server.workspaces() for target in server.targets(workspace, PATIENCE)]
        except ClientProblem as problem:
            yield Check("compute", WARN, f"the compute targets cannot be listed: {problem.title}", problem.help)
    if here:
        yield Check("engine local", OK, f"nodes are places on this machine, which has {_cores()}")
        yield from ray([target for target in targets if target["engine"] == RAY])
        yield from slurm([target for target in targets if target["engine"] == SLURM])
    yield from away(targets)


def ray(targets: Sequence[ComputeDocument]) -> Iterator[Check]:
    """Ray's package, unless targets name a Python of their own that has it."""
    targets = [target for target in targets if not target["options"].get("ray_python")]
    if importlib.util.find_spec("ray") is not None:
        yield Check("engine ray", OK, f"version {importlib.metadata.version('ray')}")
    elif targets:
        yield Check(
            "engine ray",
            WARN,
            f"not installed, but {_named(targets)} needs it",
            f"Install it beside the server ({installation().with_extra('ray')}), then `runyard down` and "
            "`runyard up`; or name a Python that has it when you attach the cluster (`--ray-python`).",
        )


def slurm(targets: Sequence[ComputeDocument]) -> Iterator[Check]:
    """Slurm's commands, where targets say that they are, or on PATH."""
    folders = sorted({str(target["options"].get("commands") or "") for target in targets})
    if not targets and shutil.which("sbatch") is not None:
        folders = [""]
    for folder in folders:
        missing = [name for name in SLURM_COMMANDS if shutil.which(name, path=folder or None) is None]
        where = folder or "PATH"
        if missing:
            message = f"not found in {where}: {', '.join(missing)}"
            help = "Install Slurm's client programs, or name their folder: `runyard compute attach --commands DIR`."
            yield Check("engine slurm", WARN, message, help)
        else:
            found = str(Path(str(shutil.which("sbatch", path=folder or None))).parent)
            yield Check("engine slurm", OK, f"its commands are in {found}")


def away(targets: Sequence[ComputeDocument]) -> Iterator[Check]:
    """Targets whose engine does not answer, or cannot be used."""
    for target in targets:
        for error in target["status"]["errors"]:
            yield Check(
                f"compute {target['name']}",
                WARN,
                error["message"],
                f"Runs on it wait. `runyard compute show {target['name']}` tells when it is back.",
            )


def _named(targets: Sequence[ComputeDocument]) -> str:
    return ", ".join(sorted({target["name"] for target in targets}))


def _cores() -> str:
    return formatting.count(os.cpu_count() or 1, "core")
