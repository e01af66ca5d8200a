"""DistributedDataParallel as it was written for SDK v1: the meeting place and the rank come as arguments, or from
the environment where none are given."""

from __future__ import annotations

import argparse
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from azureml.core import Run

EPOCHS = 10


def made_up_points(rank: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The share of this rank: points near a line that all ranks have in common."""
    torch.manual_seed(rank)
    inputs = torch.randn(256, 1)
    return inputs, 3 * inputs + 0.5 + 0.05 * torch.randn(256, 1)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--dist-backend", default="gloo")
    parser.add_argument("--dist-url", default="env://")
    parser.add_argument("--rank", type=int, default=int(os.environ.get("RANK", -1)))
    parser.add_argument("--world-size", type=int, default=int(os.environ.get("WORLD_SIZE", -1)))
    args = parser.parse_args()

    # NCCL needs a GPU for each rank; gloo trains on anything.
    backend = args.dist_backend if torch.cuda.is_available() else "gloo"
    dist.init_process_group(backend, init_method=args.dist_url, rank=args.rank, world_size=args.world_size)
    device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0))) if backend == "nccl" else torch.device("cpu")
    print(f"rank {dist.get_rank()} of {dist.get_world_size()}, {backend} on {device}", flush=True)

    torch.manual_seed(0)
    model = DistributedDataParallel(torch.nn.Linear(1, 1).to(device))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    inputs, wanted = (tensor.to(device) for tensor in made_up_points(args.rank))
    run = Run.get_context()
    for epoch in range(EPOCHS):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(inputs), wanted)
        loss.backward()  # the gradients of all ranks are averaged here
        optimizer.step()
        run.log(f"loss of rank {args.rank}", loss.item())
        if args.rank == 0:
            print(f"epoch {epoch + 1:2d}  loss {loss.item():.4f}", flush=True)

    weight = model.module.weight.detach().clone()
    gathered = [torch.zeros_like(weight) for _ in range(dist.get_world_size())]
    dist.all_gather(gathered, weight)
    assert all(torch.equal(weight, other) for other in gathered), "the ranks have trained different models"
    if args.rank == 0:
        os.makedirs("outputs", exist_ok=True)
        torch.save(model.module.state_dict(), "outputs/model.pt")
        run.log("world size", dist.get_world_size())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
