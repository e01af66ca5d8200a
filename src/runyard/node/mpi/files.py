"""The folder for the own files of MPI's processes on one node, away from those of every other node.

Open MPI puts them into the folder for temporary files, under the names of the machine and of the job. Nodes of one run
that are on one machine would share them: both daemons make the same folders, and one fails because the other was
first; both write the machine's topology into one file, and crash over each other's pointers; the first to end removes
what the other still needs. And the last mpirun to end removes the folder in which another is about to make its own.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from runyard.node.problem import RunProblem

_LINK = "mpi_files"


def own_files(folder: Path) -> str:
    """The folder for the node whose run folder this is; made by the first call.

    It is among the temporary files of the machine, behind a link in the run's folder: sockets are made in it, whose
    paths must be short.
    """
    link = folder / _LINK
    try:
        return os.readlink(link)
    except FileNotFoundError:
        pass
    try:
        place = tempfile.mkdtemp(prefix="runyard-mpi-")
        link.symlink_to(place)
    except OSError as error:
        raise RunProblem(
            "MpiNotUsable",
            f"The folder for MPI's own files could not be made: {error}.",
            f"Make room in {tempfile.gettempdir()}, or start the node with TMPDIR set to a folder that has some.",
        ) from error
    return place


def remove_files(folder: Path) -> None:
    """Remove them when nothing of the run is alive on its node any more, also for a node runner that was killed."""
    link = folder / _LINK
    try:
        place = os.readlink(link)
    except OSError:
        return
    shutil.rmtree(place, ignore_errors=True)
    link.unlink()
