"""Removing a folder whose content the server has confirmed."""

from __future__ import annotations

import os
from pathlib import Path

from runyard.node.log import log_line
from runyard.system import folders


def remove(folder: Path) -> None:
    """Rename the folder first, then delete what is in it: nobody finds it half deleted."""
    aside = folder.with_name(f".{folder.name}.gone")
    try:
        os.rename(folder, aside)
    except FileNotFoundError:
        return
    folders.remove(aside, lambda path, error: log_line(f"{path} could not be removed: {error}"))
