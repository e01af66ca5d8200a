"""Giving all ranks the same start: parameters, the state of an optimizer, any object."""

from __future__ import annotations

from typing import Any, Iterable, Mapping

import torch

from ..core import objects
from ..core.process_sets import ranks_of
from .mpi_ops import (
    _basics,
    allgather_async,
    broadcast_async_,
    global_process_set,
    rank,
    synchronize,
)


def broadcast_parameters(params: Any, root_rank: int, process_set: Any = global_process_set) -> None:
    """Overwrite parameters, of `model.state_dict()` or `model.named_parameters()`, with those of one rank."""
    if isinstance(params, Mapping):
        named = sorted(params.items())
    elif isinstance(params, Iterable):
        named = [each if isinstance(each, tuple) else (None, each) for each in params]  # type: ignore[misc]
    else:
        raise ValueError(f"invalid params of type: {type(params)}")
    handles = [
        broadcast_async_(tensor, root_rank, None if name is None else str(name), process_set)
        for name, tensor in named
        if torch.is_tensor(tensor)
    ]
    for handle in handles:
        synchronize(handle)
    others = {name: value for name, value in named if not torch.is_tensor(value) and value is not None}
    if others and isinstance(params, dict):
        params.update(broadcast_object(others, root_rank, "parameters that are no tensors", process_set))


def broadcast_object(
    obj: Any = None, root_rank: int = 0, name: str | None = None, process_set: Any = global_process_set
) -> Any:
    """What one rank has, on all of them: anything that can be pickled."""
    called = _basics.name("broadcast_object", name, process_set)
    content = bytearray(objects.dump(obj)) if rank() == root_rank else bytearray()
    length = torch.tensor([len(content)], dtype=torch.int64)
    synchronize(broadcast_async_(length, root_rank, f"{called}.length", process_set))
    held = torch.frombuffer(content, dtype=torch.uint8) if content else torch.empty(int(length), dtype=torch.uint8)
    synchronize(broadcast_async_(held, root_rank, f"{called}.content", process_set))
    return obj if rank() == root_rank else objects.load(held.numpy().tobytes())


def allgather_object(obj: Any, name: str | None = None, process_set: Any = global_process_set) -> list[Any]:
    """What every rank has, in the order of the ranks."""
    called = _basics.name("allgather_object", name, process_set)
    content = torch.frombuffer(bytearray(objects.dump(obj)), dtype=torch.uint8)
    lengths = synchronize(allgather_async(torch.tensor([content.numel()]), f"{called}.lengths", process_set))
    whole = synchronize(allgather_async(content, f"{called}.content", process_set))
    found, start = [], 0
    for length in lengths.tolist():
        found.append(objects.load(whole[start : start + length].numpy().tobytes()))
        start += length
    assert len(found) == len(ranks_of(process_set))
    return found


def broadcast_optimizer_state(
    optimizer: torch.optim.Optimizer, root_rank: int, process_set: Any = global_process_set, model: Any = None
) -> None:
    """Overwrite the state of an optimizer, its options included, with that of one rank.

    The tensors of it are broadcast as they are; all else, and which tensors there are, travels as one object. A rank
    that has no state yet, as before the first step, gets it.
    """
    if isinstance(optimizer, torch.optim.LBFGS):
        raise ValueError("cannot broadcast torch.optim.LBFGS state")
    state = optimizer.state_dict()
    tensors: dict[str, Any] = {}
    plan = _take_tensors(state["state"], "state", tensors) if rank() == root_rank else None
    options = state["param_groups"] if rank() == root_rank else None
    shapes = {name: (tensor.dtype, tuple(tensor.shape), tensor.device.type) for name, tensor in tensors.items()}
    plan, options, shapes = broadcast_object((plan, options, shapes), root_rank, "optimizer state", process_set)
    if rank() != root_rank:
        devices = [each.device for group in optimizer.param_groups for each in group["params"]]
        for name, (dtype, shape, kind) in shapes.items():
            device = next((each for each in devices if each.type == kind), "cpu")
            tensors[name] = torch.empty(shape, dtype=dtype, device=device)
    whole = {name: tensor.contiguous() for name, tensor in tensors.items()}
    broadcast_parameters(whole, root_rank, process_set)
    if rank() != root_rank:
        optimizer.load_state_dict({"state": _put_tensors(plan, whole), "param_groups": options})


class _Tensor:
    """Stands for a tensor in the plan of a state."""

    def __init__(self, name: str) -> None:
        self.name = name


def _take_tensors(value: Any, name: str, tensors: dict[str, Any]) -> Any:
    if torch.is_tensor(value):
        tensors[f"optimizer.{name}"] = value
        return _Tensor(f"optimizer.{name}")
    if isinstance(value, Mapping):
        return {key: _take_tensors(each, f"{name}.{key}", tensors) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_take_tensors(each, f"{name}.{place}", tensors) for place, each in enumerate(value))
    return value


def _put_tensors(value: Any, tensors: Mapping[str, Any]) -> Any:
    if isinstance(value, _Tensor):
        return tensors[value.name]
    if isinstance(value, dict):
        return {key: _put_tensors(each, tensors) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_put_tensors(each, tensors) for each in value)
    return value
