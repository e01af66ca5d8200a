"""Training under MPI with mpi4py: gradients are summed over all ranks, as Horovod does it below its own API."""

from __future__ import annotations

import json
import os
import random

from mpi4py import MPI

from azureml.core import Run

EPOCHS = 20


def made_up_points(rank: int) -> list[tuple[float, float]]:
    """The share of this rank: points near a line that all ranks have in common."""
    dice = random.Random(rank)
    inputs = [dice.uniform(-1, 1) for _ in range(200)]
    return [(x, 3 * x + 0.5 + dice.gauss(0, 0.05)) for x in inputs]


def main() -> None:
    world = MPI.COMM_WORLD
    # What SDK v1 scripts read where they have no MPI at hand.
    assert world.rank == int(os.environ["OMPI_COMM_WORLD_RANK"])
    print(f"rank {world.rank} of {world.size} on {MPI.Get_processor_name()}", flush=True)

    run = Run.get_context()
    points = made_up_points(world.rank)
    slope = bias = 0.0
    for _ in range(EPOCHS):
        wrong = [slope * x + bias - y for x, y in points]
        loss = world.allreduce(sum(each * each for each in wrong) / len(points)) / world.size
        steep = sum(2 * each * x for each, (x, _) in zip(wrong, points, strict=True)) / len(points)
        slope -= 0.5 * world.allreduce(steep) / world.size
        bias -= 0.5 * world.allreduce(sum(2 * each for each in wrong) / len(points)) / world.size
        if world.rank == 0:
            run.log("loss", loss)
    run.log(f"slope of rank {world.rank}", slope)
    if world.rank == 0:
        run.log("world size", world.size)
        os.makedirs("outputs", exist_ok=True)
        with open("outputs/model.json", "w") as file:
            json.dump({"slope": slope, "bias": bias}, file)


if __name__ == "__main__":
    main()
