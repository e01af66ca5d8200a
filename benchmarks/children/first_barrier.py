"""The script whose gang is measured: every rank writes the time into a file as soon as all ranks have met once.

    first_barrier.py KIND FILE       KIND: plain, pytorch or mpi

Rank and meeting place come from the environment, by the names that torchrun, Runyard and Slurm give them.
"""

from __future__ import annotations

import os
import socket
import sys
import time


def variable(*names: str) -> str:
    return next(os.environ[name] for name in names if name in os.environ)


def met_plainly() -> None:
    """A barrier with nothing but sockets: rank 0 answers when all others have come."""
    rank, size = int(variable("RANK", "SLURM_PROCID")), int(variable("WORLD_SIZE", "SLURM_NTASKS"))
    place = (variable("MASTER_ADDR"), int(variable("MASTER_PORT")))
    if rank == 0:
        with socket.create_server(place, backlog=size) as server:
            others = [server.accept()[0] for _ in range(size - 1)]
            for other in others:
                other.sendall(b"!")
        return
    while True:
        try:
            with socket.create_connection(place, timeout=60) as connection:
                connection.recv(1)
            return
        except ConnectionRefusedError:  # rank 0 does not listen yet
            time.sleep(0.002)


def met_in_pytorch() -> None:
    import torch.distributed as dist

    dist.init_process_group("gloo")
    dist.barrier()


def met_in_mpi() -> None:
    from mpi4py import MPI

    MPI.COMM_WORLD.Barrier()


def main(kind: str, path: str) -> None:
    {"plain": met_plainly, "pytorch": met_in_pytorch, "mpi": met_in_mpi}[kind]()
    at = time.time()
    with open(path, "w") as file:
        file.write(f"{at!r}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
