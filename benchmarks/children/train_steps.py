"""Steps of training on several processes, timed one after another in each way: DistributedDataParallel and Horovod.

    train_steps.py STEPS WAY...      WAY: ddp, horovod

The ways take turns, step by step, in the same processes, so that whatever else the machine does meets all of them;
which one goes first changes with every step. Rank 0 prints {way: [[seconds, seconds of CPU], ...]} at the end.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

import torch
import torch.distributed as dist

WIDTH, LAYERS, BATCH = 2048, 6, 32  # 25.2 million parameters
WARM = 3


def model() -> Any:
    torch.manual_seed(0)
    layers: list[Any] = []
    for _ in range(LAYERS):
        layers += [torch.nn.Linear(WIDTH, WIDTH), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers)


class Ddp:
    def __init__(self) -> None:
        self.model = torch.nn.parallel.DistributedDataParallel(model())
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)


class Horovod:
    def __init__(self) -> None:
        import horovod.torch as hvd

        hvd.init()
        self.model = model()
        hvd.broadcast_parameters(self.model.state_dict(), root_rank=0)
        optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)
        self.optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=self.model.named_parameters())


def step(way: Any, inputs: torch.Tensor) -> tuple[float, float]:
    dist.barrier()
    begun, worked = time.perf_counter(), time.process_time()
    way.optimizer.zero_grad()
    way.model(inputs).square().mean().backward()
    way.optimizer.step()
    return time.perf_counter() - begun, time.process_time() - worked


def main(steps: int, names: list[str]) -> None:
    dist.init_process_group("gloo")
    ways = {name: {"ddp": Ddp, "horovod": Horovod}[name]() for name in names}
    torch.manual_seed(int(os.environ["RANK"]))
    inputs = torch.randn(BATCH, WIDTH)
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    for number in range(WARM + steps):
        for name in names if number % 2 else names[::-1]:
            took = step(ways[name], inputs)
            if number >= WARM:
                times[name].append(took)
    if os.environ["RANK"] == "0":
        print(json.dumps(times), flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
