"""What the nodes of a run know of each other once all are ready: addresses, names, free ports, a folder they share."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Mapping, Sequence

from runyard.contracts.distribution import TENSORFLOW, Distribution


@dataclass(frozen=True)
class Meeting:
    addresses: list[str]  # by node
    names: list[str]  # of the machines, by node; two nodes may be on one
    port: int  # free on node 0
    ports: dict[str, int] = field(default_factory=dict)  # by rank, free on the rank's node
    shared: str | None = None  # a folder that all nodes see
    mpirun: bool = False  # whether every node has an MPI, so that mpirun starts the ranks of a run of that kind

    @property
    def on_loopback(self) -> bool:
        """Whether all nodes are on one machine that they know by its loopback address only."""
        return all(address.startswith("127.") or address == "::1" for address in self.addresses)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_dict(fields: Mapping[str, Any]) -> Meeting:
        return Meeting(**{name: fields[name] for name in Meeting.__dataclass_fields__ if name in fields})


def ports_wanted(distribution: Distribution, node: int) -> int:
    """How many ports must be found free on a node: one for each rank that others connect to, one more on node 0."""
    return len(_listening(distribution, node)) + (node == 0)


def meet(
    distribution: Distribution,
    addresses: Sequence[str],
    names: Sequence[str],
    free: Sequence[Sequence[int]],
    shared: str | None,
    mpirun: bool = False,
) -> Meeting:
    """The meeting of nodes of which each has found as many free ports as were wanted of it."""
    ports = {}
    for node, found in enumerate(free):
        for rank, port in zip(_listening(distribution, node), found[1:] if node == 0 else found):
            ports[str(rank)] = port
    return Meeting(list(addresses), list(names), free[0][0], ports, shared, mpirun)


def _listening(distribution: Distribution, node: int) -> list[int]:
    """The ranks of a node that have a port of their own; where only the first is connected to, it alone."""
    ranks = [each.rank for each in distribution.ranks() if each.node == node]
    return ranks if distribution.kind == TENSORFLOW else [rank for rank in ranks if rank == 0]
