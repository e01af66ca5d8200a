"""Removing a folder whose content the server has confirmed."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path
from types import TracebackType
from typing import Callable, Tuple, Type

from runyard.node.log import say

_Failure = Tuple[Type[BaseException], BaseException, TracebackType]


def remove(folder: Path) -> None:
    """Take the folder away at once, then delete what is in it: nobody finds it half deleted."""
    aside = folder.with_name(f".{folder.name}.gone")
    try:
        os.rename(folder, aside)
    except FileNotFoundError:
        return
    shutil.rmtree(aside, onerror=_open_up)  # `onexc` is not there before Python 3.12


def _open_up(function: Callable[..., object], path: str, failure: _Failure) -> None:
    """A folder that the script has made read-only is opened, and tried once more."""
    try:
        for each in (os.path.dirname(path), path):
            if not os.path.islink(each):
                os.chmod(each, os.stat(each).st_mode | stat.S_IRWXU)
        function(path)
    except OSError as error:
        say(f"{path} could not be removed: {error}")
