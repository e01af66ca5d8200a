"""Whether the server's machine has what the Slurm engine needs."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from runyard.contracts.compute import Target
from runyard.engines.base import Finding

COMMANDS = ("sbatch", "srun", "squeue", "scontrol", "scancel")


def diagnose(targets: Sequence[Target]) -> Iterator[Finding]:
    """Slurm's commands, in the folders that targets name, or on PATH."""
    folders = sorted({str(target.options.get("commands") or "") for target in targets})
    if not targets and shutil.which("sbatch") is not None:
        folders = [""]
    for folder in folders:
        missing = [name for name in COMMANDS if shutil.which(name, path=folder or None) is None]
        if missing:
            yield Finding(
                False,
                f"not found in {folder or 'PATH'}: {', '.join(missing)}",
                "Install Slurm's client programs, or name their folder: `runyard compute attach --commands DIR`.",
            )
        else:
            found = Path(str(shutil.which("sbatch", path=folder or None))).parent
            yield Finding(True, f"its commands are in {found}")
