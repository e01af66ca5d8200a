"""Moving tensors of torch: gloo for those in memory, nccl for those on GPUs, each a process group of this layer alone.

The groups are made beside the default one, so that a script may use `torch.distributed` for itself as well.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

from ..core.negotiator import Job, Negotiator
from .collectives import Collectives

FRAMEWORK = "torch"


class TorchTransport:
    def __init__(self, negotiator: Negotiator) -> None:
        self._place = negotiator.place
        self._store: Any = self._meet(negotiator) if self._place.size > 1 else None
        self._cuda: Any = torch.device("cuda", 0)
        everyone = tuple(range(self._place.size))
        self._among: dict[tuple[int, ...], Collectives] = {(): Collectives(everyone, self._place.rank, self._store)}

    def _meet(self, negotiator: Negotiator) -> Any:
        place, store = self._place, None
        if place.rank == 0:
            store = dist.TCPStore(place.host, 0, place.size, True, wait_for_workers=False)
        port = negotiator.share("torch store", store.port if store is not None else 0)[0]
        return store or dist.TCPStore(place.host, port, place.size, False, timedelta(minutes=10))

    def add(self, ranks: tuple[int, ...]) -> None:
        if self._place.rank in ranks:
            self._among[ranks] = Collectives(ranks, self._place.rank, self._store)

    def close(self) -> None:
        self._among.clear()
        self._store = None

    def perform(self, job: Job) -> list[Any]:
        request = job.requests[0]
        among = self._among[request.ranks]
        with torch.no_grad():
            if request.device == "torch/cuda":
                with torch.cuda.device(self._cuda_of(job)):
                    return among.perform(job, request)
            return among.perform(job, request)

    def _cuda_of(self, job: Job) -> Any:
        """The GPU of this rank: that of its tensors. One that has joined uses the one that it used last."""
        for ticket in job.tickets:
            first = ticket.payload[0]
            self._cuda = (first[0] if isinstance(first, tuple) else first).device
        return self._cuda
