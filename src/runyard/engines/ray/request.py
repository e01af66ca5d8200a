"""Requests to a Ray cluster, in its terms and as text: the resources of a node, and the address of the head."""

from __future__ import annotations

import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from runyard.contracts.compute import Resources
from runyard.engines.base import EngineAway, EngineError

MEMORY_SHARE = 0.6
"""Of a machine's memory, what Ray has to give: it needs some for its object store, and the system uses some."""

CLIENT = "ray://"
HEAD_PORT, CLIENT_PORT = 6379, 10001

Bundle = dict[str, float]
Seen = dict[str, Any]
"""A node as the keeper sees it: id, name, address, what it `has` and has `free`, by resource, is it `leaving`."""


@dataclass(frozen=True)
class Address:
    """`host:port` of the head for a machine of the cluster, `ray://host:port` for any other."""

    host: str
    port: int
    client: bool = False

    @staticmethod
    def parse(text: str) -> Address:
        """
        >>> str(Address.parse("10.0.0.5")), str(Address.parse("ray://head:10001"))
        ('10.0.0.5:6379', 'ray://head:10001')
        """
        client = text.startswith(CLIENT)
        try:
            parts = urlsplit("//" + text.removeprefix(CLIENT))
            host, port = parts.hostname, parts.port
        except ValueError:
            host, port = None, None
        if not host or parts.path or parts.username:
            raise EngineError(
                f"{text!r} is no address of a Ray cluster. Give that of its head: HOST:6379 when this machine is a "
                "node of the cluster, ray://HOST:10001 when it is not."
            )
        return Address(host, port or (CLIENT_PORT if client else HEAD_PORT), client)

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{CLIENT if self.client else ''}{host}:{self.port}"

    def probe(self, timeout: float = 5.0) -> None:
        """Raise EngineAway when nobody listens there: Ray itself would try for long, with a poorer message."""
        try:
            socket.create_connection((self.host, self.port), timeout).close()
        except OSError as error:
            raise EngineAway(f"nobody listens there ({error.strerror or error})") from error


def bundle_of(resources: Resources, more: Mapping[str, float]) -> Bundle:
    """What one node of a gang asks for. A CPU at least: nodes without one, such as many heads, are not for runs."""
    bundle: Bundle = {"CPU": float(max(1, resources.cores))}
    if resources.gpus:
        bundle["GPU"] = float(resources.gpus)
    if resources.memory_mb:
        bundle["memory"] = float(int(resources.memory_mb * MEMORY_SHARE) * 2**20)
    return {**bundle, **more}


def able(nodes: Sequence[Seen], bundle: Bundle) -> list[Seen]:
    """The nodes that could give a bundle if they were free."""
    return [node for node in nodes if all(node["has"].get(name, 0) >= amount for name, amount in bundle.items())]


def wish(nodes: int, bundle: Bundle) -> str:
    """
    >>> wish(2, {"CPU": 6.0, "GPU": 1.0})
    '2 nodes with 6 CPUs and 1 GPU'
    """
    return f"{nodes} {'node' if nodes == 1 else 'nodes'} with {amounts(bundle)}"


def amounts(bundle: Mapping[str, float]) -> str:
    parts = [_amount(name, amount) for name, amount in bundle.items()]
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def inventory(nodes: Sequence[Seen]) -> str:
    """The kinds of nodes that there are, as a sentence."""
    kinds: dict[str, int] = {}
    for node in nodes:
        has = {name: node["has"].get(name, 0) for name in ("CPU", "GPU", "memory")}
        kind = amounts({name: amount for name, amount in has.items() if amount or name == "CPU"})
        kinds[kind] = kinds.get(kind, 0) + 1
    if not kinds:
        return "It has no nodes now."
    return "It has " + "; ".join(f"{count} with {kind}" for kind, count in kinds.items()) + "."


def _amount(name: str, amount: float) -> str:
    if name in ("CPU", "GPU"):
        return f"{amount:g} {name}{'' if amount == 1 else 's'}"
    if name == "memory":
        return f"{amount / 2**30:.0f} GiB of memory"
    return f"{amount:g} of {name}"
