"""Training with Horovod as its users write it: each rank trains on its share, and the gradients are averaged."""

from __future__ import annotations

import os

import horovod.torch as hvd
import torch

from azureml.core import Run

EPOCHS = 10


def made_up_points(rank: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The share of this rank: points near a line that all ranks have in common."""
    torch.manual_seed(rank)
    inputs = torch.randn(256, 1)
    return inputs, 3 * inputs + 0.5 + 0.05 * torch.randn(256, 1)


def main() -> None:
    hvd.init()
    rank, size = hvd.rank(), hvd.size()
    print(f"rank {rank} of {size}, {hvd.local_rank()} of {hvd.local_size()} on its node", flush=True)
    if torch.cuda.is_available():
        torch.cuda.set_device(0)  # each process sees the GPUs that are its own, and no other
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    inputs, wanted = (tensor.to(device) for tensor in made_up_points(rank))
    model = torch.nn.Linear(1, 1).to(device)  # every rank begins with another one ...
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)  # ... and goes on with that of rank 0
    hvd.broadcast_optimizer_state(optimizer, root_rank=0)
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())

    run = Run.get_context()
    for epoch in range(EPOCHS):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(inputs), wanted)
        loss.backward()
        optimizer.step()  # the gradients of all ranks are averaged here
        mean = hvd.allreduce(loss.detach(), name="loss").item()
        if rank == 0:
            run.log("loss", mean)
            print(f"epoch {epoch + 1:2d}  loss {mean:.4f}", flush=True)

    weights = hvd.allgather(model.weight.detach(), name="weights")
    assert bool((weights == weights[0]).all()), "the ranks have trained different models"
    run.log(f"weight of rank {rank}", model.weight.item())
    if rank == 0:
        run.log("world size", size)
        os.makedirs("outputs", exist_ok=True)
        torch.save(model.state_dict(), "outputs/model.pt")


if __name__ == "__main__":
    main()
