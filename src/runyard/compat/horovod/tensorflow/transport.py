"""Moving arrays of TensorFlow: over a ring of TCP lines of this layer's own, one for each set of ranks.

TensorFlow's collectives need the cluster to be named before its first operation, cannot be used in the sessions that
scripts of TensorFlow 1 make for themselves, and hang where ranks disagree. A ring serves eager code, functions, graphs
and Keras alike. Arrays are handed over without a copy where TensorFlow can.
"""

from __future__ import annotations

from typing import Any

from ..core.negotiator import Job, Negotiator
from ..core.ring import Ring
from .collectives import Collectives

FRAMEWORK = "tensorflow"


class ArrayTransport:
    def __init__(self, negotiator: Negotiator) -> None:
        self._negotiator = negotiator
        self._among: dict[tuple[int, ...], Collectives] = {}
        self._rings: list[Ring] = []
        self._make((), tuple(range(negotiator.place.size)))

    def add(self, ranks: tuple[int, ...]) -> None:
        self._make(ranks, ranks)

    def _make(self, key: tuple[int, ...], ranks: tuple[int, ...]) -> None:
        ring = Ring(self._negotiator, FRAMEWORK, ranks) if len(ranks) > 1 else None
        if self._negotiator.place.rank in ranks:
            self._among[key] = Collectives(ranks, self._negotiator.place.rank, ring)
        if ring is not None:
            self._rings.append(ring)

    def close(self) -> None:
        for ring in self._rings:
            ring.close()

    def perform(self, job: Job) -> list[Any]:
        """The payload of a ticket is a list of arrays, and so is its output."""
        return self._among[job.requests[0].ranks].perform(job)
