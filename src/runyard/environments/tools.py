"""Finding the programs that build environments: uv, which is installed with Runyard, and whichever conda there is."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

CONDA_TOOLS = ("micromamba", "mamba", "conda")
"""In the order in which they are tried: the fastest first. All three take the same `create`."""

_NAMED_BY = {"conda": "CONDA_EXE", "mamba": "MAMBA_EXE", "micromamba": "MAMBA_EXE"}
"""Variables with the location of a conda that is set up for the shell."""

_CONDA_ROOTS = ("micromamba", "miniforge3", "mambaforge", "miniconda3", "anaconda3", "conda")


def find(name: str) -> Path | None:
    """The program, from: beside this Python, PATH, the variable that names it, the folders where it is installed."""
    beside = Path(sys.executable).parent / name
    if _runs(beside):
        return beside
    on_path = shutil.which(name)
    if on_path is not None:
        return Path(on_path)
    named = Path(os.environ.get(_NAMED_BY.get(name, ""), ""))
    if named.name == name and _runs(named):
        return named
    return next((folder / name for folder in _folders() if _runs(folder / name)), None)


def find_conda() -> Path | None:
    """The first of micromamba, mamba and conda that is there."""
    return next((found for found in map(find, CONDA_TOOLS) if found is not None), None)


def _folders() -> list[Path]:
    home = Path.home()
    roots = [place / root for root in _CONDA_ROOTS for place in (home, Path("/opt"))]
    return [home / ".local/bin", home / ".cargo/bin", Path("/usr/local/bin"), *(root / "bin" for root in roots)]


def _runs(program: Path) -> bool:
    return program.is_file() and os.access(program, os.X_OK)
