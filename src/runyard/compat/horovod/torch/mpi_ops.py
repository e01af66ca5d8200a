"""Horovod's collectives for torch, under the names that it has for them.

Each has a form that returns at once with a handle (`_async`), and most have one that writes into the tensor that it
was given (a trailing underscore). The plain forms can be differentiated through.
"""

from __future__ import annotations

import itertools
import threading
from typing import Any, Callable, Sequence

import torch

from ..common.exceptions import HorovodInternalError  # noqa: F401 - scripts import it from here
from ..core import basics
from ..core.basics import Adasum, Average, Basics, Max, Min, Product, Sum, check_process_set, op_of
from ..core.negotiator import Ticket
from ..core.requests import ALLGATHER, ALLREDUCE, BROADCAST, Request
from .compression import Compression
from .transport import FRAMEWORK, TorchTransport

__all__ = ["Adasum", "Average", "Max", "Min", "Product", "Sum"]

ProcessSet, global_process_set = basics.ProcessSet, basics.global_process_set

_basics = Basics(FRAMEWORK, TorchTransport)

init, shutdown, is_initialized = _basics.init, _basics.shutdown, _basics.is_initialized
rank, size = _basics.rank, _basics.size
local_rank, local_size = _basics.local_rank, _basics.local_size
cross_rank, cross_size = _basics.cross_rank, _basics.cross_size
is_homogeneous, join = _basics.is_homogeneous, _basics.join
start_timeline, stop_timeline = _basics.start_timeline, _basics.stop_timeline
mpi_threads_supported = _basics.mpi_threads_supported
mpi_enabled = mpi_built = ddl_built = ccl_built = _basics.no
gloo_enabled = gloo_built = _basics.yes


def nccl_built(verbose: bool = False) -> bool:
    return bool(torch.distributed.is_nccl_available())


def cuda_built(verbose: bool = False) -> bool:
    return torch.version.cuda is not None


def rocm_built(verbose: bool = False) -> bool:
    return getattr(torch.version, "hip", None) is not None


# -- handles ----------------------------------------------------------------------------------------------------------

_Finish = Callable[[Any], Any]
_handles: dict[int, tuple[list[Ticket], _Finish]] = {}
_numbers = itertools.count(1)
_lock = threading.Lock()


def poll(handle: int) -> bool:
    """Whether an asynchronous call is done; `synchronize` then returns at once."""
    return all(ticket.done for ticket in _handles[handle][0])


def synchronize(handle: int) -> Any:
    """Wait for an asynchronous call, and return its result. A handle is good for one call."""
    with _lock:
        tickets, finish = _handles.pop(handle, ([], None))
    if finish is None:
        raise ValueError(f"There is no call under way with the handle {handle}: it may be synchronized already.")
    return finish([basics.session().wait(ticket) for ticket in tickets])


def _handle(tickets: list[Ticket], finish: _Finish) -> int:
    with _lock:
        number = next(_numbers)
        _handles[number] = (tickets, finish)
    return number


def _submit(
    kind: str, name: str, tensors: Sequence[Any], payload: Any, finish: _Finish, names: Sequence[str] = (), **more: Any
) -> int:
    """Hand one request in for some tensors."""
    members = tuple(
        (names[place] if names else name, str(tensor.dtype)[6:], tuple(tensor.shape))
        for place, tensor in enumerate(tensors)
    )
    device = f"{FRAMEWORK}/{tensors[0].device.type}" if tensors else f"{FRAMEWORK}/cpu"
    request = Request(name, kind, members, device=device, **more)
    return _handle(basics.session().submit([request], [payload]), lambda outputs: finish(outputs[0]))


def _first(outputs: Any) -> Any:
    return outputs[0]


# -- allreduce --------------------------------------------------------------------------------------------------------


def _allreduce(name: str, pairs: list[Any], finish: _Finish, op: Any, pre: float, post: float, names: Any = ()) -> int:
    sources = [source.detach() for source, _ in pairs]
    payload = [(own, own if given is target else target.detach()) for own, (given, target) in zip(sources, pairs)]
    more = {"op": str(op), "prescale": float(pre), "postscale": float(post)}
    return _submit(ALLREDUCE, name, sources, payload, finish, names, **more)


def allreduce_async(
    tensor: Any,
    average: bool | None = None,
    name: str | None = None,
    op: Any = None,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
    process_set: Any = global_process_set,
) -> int:
    check_process_set(process_set)
    output = torch.empty_like(tensor, memory_format=torch.contiguous_format)
    called = _basics.name("allreduce", name)
    return _allreduce(
        called, [(tensor, output)], lambda _: output, op_of(op, average), prescale_factor, postscale_factor
    )


def allreduce_async_(
    tensor: Any,
    average: bool | None = None,
    name: str | None = None,
    op: Any = None,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
    process_set: Any = global_process_set,
) -> int:
    check_process_set(process_set)
    called = _basics.name("allreduce", name)
    return _allreduce(
        called, [(tensor, tensor)], lambda _: tensor, op_of(op, average), prescale_factor, postscale_factor
    )


def allreduce(
    tensor: Any,
    average: bool | None = None,
    name: str | None = None,
    compression: Any = Compression.none,
    op: Any = None,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
    process_set: Any = global_process_set,
) -> Any:
    """The average of a tensor over all ranks, or another reduction of it."""
    compressed, context = compression.compress(tensor)
    reduced = _Allreduce.apply(compressed, op_of(op, average), name, prescale_factor, postscale_factor, process_set)
    return compression.decompress(reduced, context)


def allreduce_(
    tensor: Any,
    average: bool | None = None,
    name: str | None = None,
    op: Any = None,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
    process_set: Any = global_process_set,
) -> Any:
    return synchronize(allreduce_async_(tensor, average, name, op, prescale_factor, postscale_factor, process_set))


class _Allreduce(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, tensor: Any, op: Any, name: Any, pre: float, post: float, process_set: Any) -> Any:
        ctx.of = (op, name, pre, post, process_set)
        return synchronize(allreduce_async(tensor, None, name, op, pre, post, process_set))

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        op, name, pre, post, process_set = ctx.of
        called = None if name is None else f"{name}.backward"
        handle = allreduce_async(gradient.contiguous(), None, called, op, pre, post, process_set)
        return (synchronize(handle), None, None, None, None, None)


# -- many at once -----------------------------------------------------------------------------------------------------


def _grouped(
    tensors: Sequence[Any], targets: Sequence[Any], average: Any, name: Any, op: Any, pre: float, post: float, ps: Any
) -> int:
    check_process_set(ps)
    if not tensors:
        raise ValueError("A group of tensors must hold at least one.")
    called = _basics.name("grouped_allreduce", name)
    names = [f"{called}_{place + 1}of{len(tensors)}" for place in range(len(tensors))]
    pairs = list(zip(tensors, targets))
    return _allreduce(called, pairs, lambda _: list(targets), op_of(op, average), pre, post, names)


def grouped_allreduce_async(
    tensors: Sequence[Any],
    average: bool | None = None,
    name: str | None = None,
    op: Any = None,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
    process_set: Any = global_process_set,
) -> int:
    outputs = [torch.empty_like(tensor, memory_format=torch.contiguous_format) for tensor in tensors]
    return _grouped(tensors, outputs, average, name, op, prescale_factor, postscale_factor, process_set)


def grouped_allreduce_async_(
    tensors: Sequence[Any],
    average: bool | None = None,
    name: str | None = None,
    op: Any = None,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
    process_set: Any = global_process_set,
) -> int:
    return _grouped(tensors, tensors, average, name, op, prescale_factor, postscale_factor, process_set)


class _GroupedAllreduce(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, name: Any, op: Any, pre: float, post: float, process_set: Any, *tensors: Any) -> Any:
        ctx.of = (name, op, pre, post, process_set)
        return tuple(synchronize(grouped_allreduce_async(tensors, None, name, op, pre, post, process_set)))

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        name, op, pre, post, process_set = ctx.of
        called = None if name is None else f"{name}.backward"
        whole = [gradient.contiguous() for gradient in gradients]
        reduced = synchronize(grouped_allreduce_async(whole, None, called, op, pre, post, process_set))
        return (None, None, None, None, None, *reduced)


def grouped_allreduce(
    tensors: Sequence[Any],
    average: bool | None = None,
    name: str | None = None,
    compression: Any = Compression.none,
    op: Any = None,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
    process_set: Any = global_process_set,
) -> list[Any]:
    small, contexts = zip(*[compression.compress(tensor) for tensor in tensors])
    chosen = op_of(op, average)
    reduced = _GroupedAllreduce.apply(name, chosen, prescale_factor, postscale_factor, process_set, *small)
    return [compression.decompress(each, context) for each, context in zip(reduced, contexts)]


def grouped_allreduce_(
    tensors: Sequence[Any],
    average: bool | None = None,
    name: str | None = None,
    op: Any = None,
    prescale_factor: float = 1.0,
    postscale_factor: float = 1.0,
    process_set: Any = global_process_set,
) -> Any:
    return synchronize(
        grouped_allreduce_async_(tensors, average, name, op, prescale_factor, postscale_factor, process_set)
    )


def sparse_allreduce_async(tensor: Any, name: str | None, op: Any, process_set: Any = global_process_set) -> Any:
    """A call without arguments that waits for the result: rows of all ranks are gathered, and added where they meet."""
    check_process_set(process_set)
    if op not in (Average, Sum):
        raise NotImplementedError(f"A sparse tensor can be averaged or summed, not reduced by {op}.")
    packed = tensor.coalesce()
    called = name if name is not None else _basics.name("sparse_allreduce", None)
    indices = allgather_async(packed.indices().t().contiguous(), name=f"{called}.indices")
    values = allgather_async(packed.values(), name=f"{called}.values")

    def finish() -> Any:
        found = synchronize(values)
        if op == Average:
            found = found / size() if found.is_floating_point() else found // size()
        return torch.sparse_coo_tensor(synchronize(indices).t(), found, tensor.shape).coalesce()

    return finish


# -- allgather --------------------------------------------------------------------------------------------------------


def allgather_async(tensor: Any, name: str | None = None, process_set: Any = global_process_set) -> int:
    check_process_set(process_set)
    own = tensor.detach()
    return _submit(ALLGATHER, _basics.name("allgather", name), [own], [own], _first)


def grouped_allgather_async(
    tensors: Sequence[Any], name: str | None = None, process_set: Any = global_process_set
) -> int:
    check_process_set(process_set)
    own = [tensor.detach() for tensor in tensors]
    called = _basics.name("grouped_allgather", name)
    return _submit(ALLGATHER, called, own, own, list, [f"{called}_{place + 1}" for place in range(len(own))])


class _Allgather(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, tensor: Any, name: Any, process_set: Any) -> Any:
        ctx.rows, ctx.name = tensor.shape[0], name
        return synchronize(allgather_async(tensor, name, process_set))

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        called = None if ctx.name is None else f"{ctx.name}.backward"
        summed = synchronize(allreduce_async(gradient.contiguous(), name=called, op=Sum))
        rows = basics.session().share(_basics.name("rows", called), ctx.rows)
        return summed.narrow(0, sum(rows[: rank()]), ctx.rows), None, None


def allgather(tensor: Any, name: str | None = None, process_set: Any = global_process_set) -> Any:
    """The tensors of all ranks, one after another in the order of the ranks."""
    return _Allgather.apply(tensor, name, process_set)


def grouped_allgather(
    tensors: Sequence[Any], name: str | None = None, process_set: Any = global_process_set
) -> list[Any]:
    names = [None if name is None else f"{name}_{place + 1}" for place in range(len(tensors))]
    if any(tensor.requires_grad for tensor in tensors):
        return [allgather(tensor, each, process_set) for tensor, each in zip(tensors, names)]
    found: list[Any] = synchronize(grouped_allgather_async(tensors, name, process_set))
    return found


# -- broadcast --------------------------------------------------------------------------------------------------------


def _broadcast(tensor: Any, target: Any, root_rank: int, name: str | None, process_set: Any) -> int:
    check_process_set(process_set)
    own = tensor.detach()
    pairs = [(own, own if target is tensor else target.detach())]
    called = _basics.name("broadcast", name)
    return _submit(BROADCAST, called, [pairs[0][0]], pairs, lambda _: target, root=int(root_rank))


def broadcast_async(tensor: Any, root_rank: int, name: str | None = None, process_set: Any = global_process_set) -> int:
    target = torch.empty_like(tensor, memory_format=torch.contiguous_format)
    return _broadcast(tensor, target, root_rank, name, process_set)


def broadcast_async_(
    tensor: Any, root_rank: int, name: str | None = None, process_set: Any = global_process_set
) -> int:
    return _broadcast(tensor, tensor, root_rank, name, process_set)


class _Broadcast(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, tensor: Any, root_rank: int, name: Any, process_set: Any) -> Any:
        ctx.root, ctx.name = root_rank, name
        return synchronize(broadcast_async(tensor, root_rank, name, process_set))

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        called = None if ctx.name is None else f"{ctx.name}.backward"
        summed = synchronize(allreduce_async(gradient.contiguous(), name=called, op=Sum))
        return summed if rank() == ctx.root else torch.zeros_like(summed), None, None, None


def broadcast(tensor: Any, root_rank: int, name: str | None = None, process_set: Any = global_process_set) -> Any:
    return _Broadcast.apply(tensor, root_rank, name, process_set)


def broadcast_(tensor: Any, root_rank: int, name: str | None = None, process_set: Any = global_process_set) -> Any:
    return synchronize(broadcast_async_(tensor, root_rank, name, process_set))
