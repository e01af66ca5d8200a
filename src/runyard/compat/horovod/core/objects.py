"""Python objects as bytes, for the calls that send them between ranks of one job."""

from __future__ import annotations

import importlib
import pickle
from typing import Any


def dump(value: Any) -> bytes:
    """With cloudpickle where it is installed, as Horovod does: it takes functions and classes of the script too."""
    try:
        pickler: Any = importlib.import_module("cloudpickle")
    except ImportError:
        pickler = pickle
    made: bytes = pickler.dumps(value)
    return made


def load(content: bytes) -> Any:
    """Of a rank of this job only, which runs the same code as this one."""
    return pickle.loads(content)
