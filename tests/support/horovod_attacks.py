"""What goes wrong in a job with Horovod, one story for each run of this script: STORY says which, and every rank writes
what it was told."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time

import horovod.torch as hvd
import torch
from torch.utils.data import DataLoader, TensorDataset


def killed_in_the_middle_of_an_allreduce() -> None:
    """The last rank is killed while a large reduction is under way."""
    large = torch.ones(16 << 20)
    hvd.allreduce_(large, name="first")
    if hvd.rank() == hvd.size() - 1:
        threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGKILL)).start()
    for number in range(1000):
        hvd.allreduce_(large, name=f"large {number}")


def lives_through_what_scripts_do() -> None:
    """Rank 1 comes late; a thousand tiny tensors and empty ones; workers; and a tensor of STORY_BYTES."""
    a_thousand_tiny_tensors()
    loaders_that_fork_and_spawn()
    large = torch.full((int(os.environ["STORY_BYTES"]) // 4,), float(hvd.rank() + 1))
    hvd.allreduce_(large, name="large", op=hvd.Sum)
    total = sum(range(1, hvd.size() + 1))
    assert large[-1].item() == total
    assert bool((large[:: 1 << 16] == total).all())


def a_thousand_tiny_tensors() -> None:
    handles = [hvd.allreduce_async(torch.full((number % 3,), float(number)), op=hvd.Sum) for number in range(1000)]
    for number, handle in enumerate(handles):
        assert hvd.synchronize(handle).tolist() == [float(number) * hvd.size()] * (number % 3)


def loaders_that_fork_and_spawn() -> None:
    """Workers of data loaders, and children that a script makes, end without taking the session with them."""
    points = TensorDataset(torch.arange(32.0).reshape(16, 2))
    for method in ("fork", "spawn"):
        loader = DataLoader(points, batch_size=4, num_workers=2, multiprocessing_context=method)
        for number, (batch,) in enumerate(loader):
            found = hvd.allreduce(batch, name=f"batch {number}")
            assert torch.equal(found, batch)
    child = multiprocessing.get_context("fork").Process(target=sys.exit)
    child.start()
    child.join()
    assert hvd.allreduce(torch.ones(1), op=hvd.Sum).item() == hvd.size(), "the session has survived"


if __name__ == "__main__":
    torch.set_num_threads(1)
    if os.environ["RANK"] == "1":
        time.sleep(float(os.environ.get("STORY_LATE", "0")))
    hvd.init()
    try:
        {each.__name__: each for each in (killed_in_the_middle_of_an_allreduce, lives_through_what_scripts_do)}[
            os.environ["STORY"]
        ]()
        print("it went well", flush=True)
    except hvd.HorovodInternalError as error:
        print(f"told: {error}", flush=True)
        sys.exit(3)
