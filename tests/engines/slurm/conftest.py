"""Stand-ins for Slurm's programs: shell scripts in a folder that the commands are looked for in."""

from __future__ import annotations

from pathlib import Path

import pytest

from runyard.engines.slurm.commands import Commands
from runyard.engines.slurm.options import Options


def program(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)


@pytest.fixture
def commands(tmp_path: Path) -> Commands:
    return Commands(Options(commands=tmp_path))
