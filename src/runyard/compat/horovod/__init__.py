"""Horovod's interface over the frameworks of today, for scripts that say `import horovod.torch as hvd`.

A real Horovod always wins: where the interpreter has one, this package steps aside and the real one is loaded in its
place. What is here is Horovod's interface and meaning, written for Runyard; nothing of Horovod's own code is in it.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys

__version__ = "0.28.1"
"""The release of Horovod whose interface this is: scripts compare it."""

RUNYARD = True
"""How a script, or a test, can tell this layer from Horovod itself."""


def _real() -> importlib.machinery.ModuleSpec | None:
    """Where a Horovod is installed besides this one."""
    here = os.path.realpath(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    others = [place for place in sys.path if os.path.realpath(place or os.curdir) != here]
    found = importlib.machinery.PathFinder.find_spec("horovod", others)
    return found if found is not None and found.origin is not None else None


def _step_aside() -> None:
    found = _real()
    if found is None or found.loader is None:
        return
    module = importlib.util.module_from_spec(found)
    sys.modules[__name__] = module
    found.loader.exec_module(module)


if __name__ == "horovod":  # not when Runyard's own tests look at it
    _step_aside()
