"""Confines the faults of an installed engine to its own targets: whatever it raises becomes an EngineError.

The scheduler and the routes expect nothing else from an engine, and a list of compute targets must not fail because
one of them has an engine with a bug.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from runyard.contracts.compute import Target
from runyard.engines.base import Engine, EngineError, EngineEvents, Gang, Handle, Offer

log = logging.getLogger("runyard.engines")


class GuardedEngine(Engine):
    def __init__(self, name: str, engine: Engine) -> None:
        self._name, self._engine = name, engine

    def check(self, target: Target) -> None:
        with guarded(self._name):
            self._engine.check(target)

    def offer(self) -> Offer:
        with guarded(self._name):
            offer = self._engine.offer()
            if not isinstance(offer, Offer):
                raise TypeError(f"offer() returned {offer!r}")
            return offer

    def start(self, gang: Gang, events: EngineEvents) -> Handle:
        with guarded(self._name):
            return self._engine.start(gang, events)

    def promise(self, gang: Gang) -> Handle:
        with guarded(self._name):
            return self._engine.promise(gang)

    def find(self, run_id: str, promise: Handle, events: EngineEvents) -> Handle | None:
        with guarded(self._name):
            return self._engine.find(run_id, promise, events)

    def watch(self, run_id: str, handle: Handle, events: EngineEvents) -> bool:
        with guarded(self._name):
            return self._engine.watch(run_id, handle, events)

    def stop(self, run_id: str, handle: Handle) -> None:
        with guarded(self._name):
            self._engine.stop(run_id, handle)

    def close(self) -> None:
        try:
            with guarded(self._name):
                self._engine.close()
        except EngineError as error:  # the others are to be closed too
            log.error("%s", error)


@contextmanager
def guarded(name: str) -> Iterator[None]:
    """Raise whatever an engine raises as an EngineError that names the engine."""
    try:
        yield
    except EngineError:
        raise
    except Exception as error:
        log.exception("the engine %s has failed", name)
        raise EngineError(f"The engine {name!r} has failed: {type(error).__name__}: {error}.") from error
