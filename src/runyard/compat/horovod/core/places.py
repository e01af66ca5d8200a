"""Which rank this process is, of how many, and where rank 0 is met: read from the variables that launchers set."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Mapping

from ..common.exceptions import HorovodInternalError

ADDRESS = "RUNYARD_HOROVOD_ADDRESS"  # host:port of rank 0, kept free for this by the node runner

_RANK = ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "HOROVOD_RANK", "RUNYARD_PROCESS_RANK")
_SIZE = ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "HOROVOD_SIZE")
_LOCAL_RANK = ("LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "HOROVOD_LOCAL_RANK")
_LOCAL_SIZE = ("LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "HOROVOD_LOCAL_SIZE")
_NODE = ("NODE_RANK", "GROUP_RANK", "AZUREML_CR_NODE_RANK", "HOROVOD_CROSS_RANK")


@dataclass(frozen=True)
class Place:
    """One process among all. `cross_rank` and `cross_size` count nodes."""

    rank: int = 0
    size: int = 1
    local_rank: int = 0
    local_size: int = 1
    cross_rank: int = 0
    cross_size: int = 1
    host: str = "127.0.0.1"
    port: int = 0
    secret: str = ""


def find(environ: Mapping[str, str]) -> Place:
    """The place that the variables give; alone where they give none.

    >>> find({}).size
    1
    >>> find({"RANK": "3", "WORLD_SIZE": "4", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "2", "NODE_RANK": "1",
    ...       "MASTER_ADDR": "10.0.0.1", "MASTER_PORT": "29500"}).cross_size
    2
    """
    size = _number(environ, _SIZE, 1)
    if size <= 1:
        return Place()
    rank = _number(environ, _RANK, -1)
    if not 0 <= rank < size:
        raise HorovodInternalError(
            f"This is one of {size} processes, and nothing tells which: none of {', '.join(_RANK)} is set to a number "
            f"from 0 to {size - 1}. Start the processes with MpiConfiguration(process_count_per_node=...)."
        )
    local_size = max(_number(environ, _LOCAL_SIZE, 1), 1)
    host, port = _address(environ)
    return Place(
        rank,
        size,
        _number(environ, _LOCAL_RANK, rank % local_size),
        local_size,
        _number(environ, _NODE, rank // local_size),
        max(size // local_size, 1),
        host,
        port,
        environ.get("AZUREML_RUN_TOKEN", ""),
    )


def number(name: str, usual: float) -> float:
    """A number that the user may set by a variable."""
    try:
        return float(os.environ.get(name, "") or usual)
    except ValueError:
        return usual


def _address(environ: Mapping[str, str]) -> tuple[str, int]:
    host, _, port = environ.get(ADDRESS, "").rpartition(":")
    if not host:
        host, port = environ.get("MASTER_ADDR", ""), environ.get("MASTER_PORT", "")
    if not host or not port.isdigit():
        raise HorovodInternalError(
            f"Nothing tells where rank 0 is met: neither {ADDRESS} nor MASTER_ADDR and MASTER_PORT are set. Runyard "
            "sets them for every distributed run."
        )
    return host.strip("[]"), int(port)


def _number(environ: Mapping[str, str], names: tuple[str, ...], usual: int) -> int:
    for name in names:
        if environ.get(name, "").isdigit():
            return int(environ[name])
    return usual
