"""Samplers and policies by the name of their class, `module:Class`: Runyard's, and those of the user's own.

A class of the user's own is imported into the server, so it must be installed where the server is.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TypeVar

from runyard.contracts.sweeps.sweep import BadSweep

Kind = TypeVar("Kind")


def loaded(name: str, base: type[Kind]) -> type[Kind]:
    """The class of that name. BadSweep when there is none, or when it is no `base`."""
    module, _, attribute = name.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except Exception as error:  # noqa: BLE001 - whatever the user's module raises
        raise BadSweep(
            f"{name!r} cannot be imported where the server runs ({type(error).__name__}: {error}). Install it there, "
            "and restart the server."
        ) from None
    if not (isinstance(found, type) and issubclass(found, base)):
        raise BadSweep(f"{name!r} is no subclass of {base.__module__}.{base.__qualname__}.")
    return found


def made(make: Callable[[], Kind], name: str) -> Kind:
    """What a class gives when it is called. BadSweep when it refuses."""
    try:
        return make()
    except BadSweep:
        raise
    except Exception as error:  # noqa: BLE001 - whatever the user's class raises
        raise BadSweep(f"{name!r} cannot be made ({type(error).__name__}: {error}).") from None
