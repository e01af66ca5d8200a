"""Samplers and policies by the name of their class, `module:Class`: Runyard's, and those of the user's own.

A class of the user's own is imported into the server, so it must be installed where the server is.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Mapping
from typing import TypeVar

from runyard.contracts.sweeps import space as spaces
from runyard.contracts.sweeps.sweep import BadSweep
from runyard.scheduler.sweeps.trials import Parameters

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


def checked_parameters(sampled: object) -> Parameters | None:
    """What a sampler has given a trial. BadSweep when a script cannot be given that."""
    if sampled is None:
        return None
    if not isinstance(sampled, Mapping) or not all(map(spaces.is_name, sampled)):
        raise BadSweep(f"sample() must return a dict of parameters by name, or None, not {repr(sampled)[:80]}.")
    try:
        json.dumps(dict(sampled), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise BadSweep(f"sample() returned a value that cannot be stored ({error}): {repr(sampled)[:80]}.") from None
    return sampled


def checked_verdict(judged: object) -> str | None:
    """What a policy has said of a trial. BadSweep when it is neither a reason nor None."""
    if judged is not None and not (isinstance(judged, str) and judged.strip()):
        raise BadSweep(f"judge() must return the reason for a stop as a text, or None, not {repr(judged)[:80]}.")
    return judged
