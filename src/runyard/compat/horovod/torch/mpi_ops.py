"""Horovod's collectives for torch, under the names that it has for them.

Each has a form that returns at once with a handle (`_async`), and most have one that writes into the tensor that it
was given (a trailing underscore). The plain forms can be differentiated through.
"""

from __future__ import annotations

import functools
from typing import Any, Callable, Sequence

import torch

from ..common.exceptions import HorovodInternalError  # noqa: F401 - scripts import it from here
from ..core import sessions
from ..core.basics import Adasum, Average, Basics, Max, Min, Product, Sum, op_of
from ..core.handles import Finish, handle_of, poll, synchronize
from ..core.process_sets import (
    ProcessSet,
    add_process_set,
    chosen_ranks,
    get_process_set_ids_and_ranks,
    global_process_set,
    ranks_of,
    remove_process_set,
)
from ..core.requests import ALLGATHER, ALLREDUCE, BROADCAST, Request
from .compression import Compression
from .transport import FRAMEWORK, TorchTransport

__all__ = [
    "Adasum",
    "Average",
    "Max",
    "Min",
    "ProcessSet",
    "Product",
    "Sum",
    "add_process_set",
    "get_process_set_ids_and_ranks",
    "global_process_set",
    "poll",
    "remove_process_set",
    "synchronize",
]

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


# -- how a tensor gets to the other ranks ------------------------------------------------------------------------------


def _submit(
    kind: str,
    name: str,
    tensors: Sequence[Any],
    payload: Any,
    finish: Finish,
    process_set: Any,
    names: Sequence[str] = (),
    **more: Any,
) -> int:
    """Hand one request in for some tensors."""
    members = tuple(
        (names[place] if names else name, str(tensor.dtype)[6:], tuple(tensor.shape))
        for place, tensor in enumerate(tensors)
    )
    device = f"{FRAMEWORK}/{tensors[0].device.type}" if tensors else f"{FRAMEWORK}/cpu"
    request = Request(name, kind, members, device=device, ranks=chosen_ranks(process_set), **more)
    return handle_of(sessions.current().submit([request], [payload])[0], finish)


def _first(outputs: Any) -> Any:
    return outputs[0]


def _fresh(tensor: Any) -> Any:
    """Where a result goes that leaves the tensor alone."""
    return torch.empty_like(tensor, memory_format=torch.contiguous_format)


def _itself(tensor: Any) -> Any:
    return tensor


def _named(call: Callable[..., Any], name: str) -> Callable[..., Any]:
    call.__name__ = call.__qualname__ = name
    return call


def _waiting(begin: Callable[..., int]) -> Callable[..., Any]:
    """The call that waits for what an `_async` call begins, with the same arguments."""

    @functools.wraps(begin)
    def call(*args: Any, **kwargs: Any) -> Any:
        return synchronize(begin(*args, **kwargs))

    return _named(call, begin.__name__.replace("_async", ""))


def _backward(name: str | None) -> str | None:
    return None if name is None else f"{name}.backward"


# -- allreduce --------------------------------------------------------------------------------------------------------


def _allreduce(
    name: str, pairs: list[Any], finish: Finish, op: Any, pre: float, post: float, process_set: Any, names: Any = ()
) -> int:
    """Reduce pairs of what goes in and what the result is written to, in one request."""
    sources = [source.detach() for source, _ in pairs]
    payload = [(own, own if given is target else target.detach()) for own, (given, target) in zip(sources, pairs)]
    more = {"op": str(op), "prescale": float(pre), "postscale": float(post)}
    return _submit(ALLREDUCE, name, sources, payload, finish, process_set, names, **more)


def _reducing(into: Callable[[Any], Any], called: str) -> Callable[..., int]:
    """`allreduce_async`, in the form that writes its result where `into` says."""

    def begin(
        tensor: Any,
        average: bool | None = None,
        name: str | None = None,
        op: Any = None,
        prescale_factor: float = 1.0,
        postscale_factor: float = 1.0,
        process_set: Any = global_process_set,
    ) -> int:
        output, full = into(tensor), _basics.name("allreduce", name, process_set)
        chosen = op_of(op, average)
        pairs = [(tensor, output)]
        return _allreduce(full, pairs, lambda _: output, chosen, prescale_factor, postscale_factor, process_set)

    return _named(begin, called)


def _reducing_many(into: Callable[[Any], Any], called: str) -> Callable[..., int]:
    """`grouped_allreduce_async`, likewise."""

    def begin(
        tensors: Sequence[Any],
        average: bool | None = None,
        name: str | None = None,
        op: Any = None,
        prescale_factor: float = 1.0,
        postscale_factor: float = 1.0,
        process_set: Any = global_process_set,
    ) -> int:
        if not tensors:
            raise ValueError("A group of tensors must hold at least one.")
        outputs, full = [into(tensor) for tensor in tensors], _basics.name("grouped_allreduce", name, process_set)
        names = [f"{full}_{place + 1}of{len(tensors)}" for place in range(len(tensors))]
        pairs, chosen = list(zip(tensors, outputs)), op_of(op, average)
        scales = (prescale_factor, postscale_factor)
        return _allreduce(full, pairs, lambda _: outputs, chosen, *scales, process_set, names)

    return _named(begin, called)


allreduce_async = _reducing(_fresh, "allreduce_async")
allreduce_async_ = _reducing(_itself, "allreduce_async_")
allreduce_ = _waiting(allreduce_async_)
grouped_allreduce_async = _reducing_many(_fresh, "grouped_allreduce_async")
grouped_allreduce_async_ = _reducing_many(_itself, "grouped_allreduce_async_")
grouped_allreduce_ = _waiting(grouped_allreduce_async_)


class _Reduced(torch.autograd.Function):
    """Gradients are reduced as the tensors were; `call` does it under a name."""

    @staticmethod
    def forward(ctx: Any, call: Any, name: str | None, *tensors: Any) -> Any:
        ctx.call, ctx.name = call, name
        return tuple(call(tensors, name))

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return (None, None, *ctx.call([each.contiguous() for each in gradients], _backward(ctx.name)))


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
    more = (op_of(op, average), prescale_factor, postscale_factor, process_set)

    def reduce(given: Sequence[Any], called: str | None) -> list[Any]:
        return [synchronize(allreduce_async(given[0], None, called, *more))]

    small, context = compression.compress(tensor)
    return compression.decompress(_Reduced.apply(reduce, name, small)[0], context)


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
    """Several tensors in one go."""
    more = (op_of(op, average), prescale_factor, postscale_factor, process_set)

    def reduce(given: Sequence[Any], called: str | None) -> Any:
        return synchronize(grouped_allreduce_async(given, None, called, *more))

    small = [compression.compress(tensor) for tensor in tensors]
    reduced = _Reduced.apply(reduce, name, *[each for each, _ in small])
    return [compression.decompress(each, context) for each, (_, context) in zip(reduced, small)]


def sparse_allreduce_async(tensor: Any, name: str | None, op: Any, process_set: Any = global_process_set) -> Any:
    """A call without arguments that waits for the result: rows of all ranks are gathered, and added where they meet."""
    if op not in (Average, Sum):
        raise NotImplementedError(f"A sparse tensor can be averaged or summed, not reduced by {op}.")
    packed, count = tensor.coalesce(), len(ranks_of(process_set))
    called = name if name is not None else _basics.name("sparse_allreduce", None, process_set)
    indices = allgather_async(packed.indices().t().contiguous(), f"{called}.indices", process_set)
    values = allgather_async(packed.values(), f"{called}.values", process_set)

    def finish() -> Any:
        found = synchronize(values)
        if op == Average:
            found = found / count if found.is_floating_point() else found // count
        return torch.sparse_coo_tensor(synchronize(indices).t(), found, tensor.shape).coalesce()

    return finish


# -- allgather --------------------------------------------------------------------------------------------------------


def allgather_async(tensor: Any, name: str | None = None, process_set: Any = global_process_set) -> int:
    own = tensor.detach()
    return _submit(ALLGATHER, _basics.name("allgather", name, process_set), [own], [own], _first, process_set)


def grouped_allgather_async(
    tensors: Sequence[Any], name: str | None = None, process_set: Any = global_process_set
) -> int:
    own = [tensor.detach() for tensor in tensors]
    called = _basics.name("grouped_allgather", name, process_set)
    names = [f"{called}_{place + 1}" for place in range(len(own))]
    return _submit(ALLGATHER, called, own, own, list, process_set, names)


class _Allgather(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, tensor: Any, name: Any, process_set: Any) -> Any:
        ctx.rows, ctx.name, ctx.process_set = tensor.shape[0], name, process_set
        return synchronize(allgather_async(tensor, name, process_set))

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        among, called = ctx.process_set, _backward(ctx.name)
        summed = allreduce_(gradient.clone(memory_format=torch.contiguous_format), None, called, Sum, 1.0, 1.0, among)
        name = _basics.name("rows", called, among)
        rows = sessions.current().share(name, ctx.rows, chosen_ranks(among))
        return summed.narrow(0, sum(rows[: ranks_of(among).index(rank())]), ctx.rows), None, None


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


def _sending(into: Callable[[Any], Any], called: str) -> Callable[..., int]:
    """`broadcast_async`, in the form that writes its result where `into` says."""

    def begin(tensor: Any, root_rank: int, name: str | None = None, process_set: Any = global_process_set) -> int:
        own, target = tensor.detach(), into(tensor)
        pairs = [(own, own if target is tensor else target.detach())]
        full = _basics.name("broadcast", name, process_set)
        return _submit(BROADCAST, full, [own], pairs, lambda _: target, process_set, root=int(root_rank))

    return _named(begin, called)


broadcast_async = _sending(_fresh, "broadcast_async")
broadcast_async_ = _sending(_itself, "broadcast_async_")
broadcast_ = _waiting(broadcast_async_)


class _Broadcast(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, tensor: Any, root_rank: int, name: Any, process_set: Any) -> Any:
        ctx.root, ctx.name, ctx.process_set = root_rank, name, process_set
        return synchronize(broadcast_async(tensor, root_rank, name, process_set))

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        whole = gradient.clone(memory_format=torch.contiguous_format)
        summed = allreduce_(whole, None, _backward(ctx.name), Sum, 1.0, 1.0, ctx.process_set)
        return summed if rank() == ctx.root else torch.zeros_like(summed), None, None, None


def broadcast(tensor: Any, root_rank: int, name: str | None = None, process_set: Any = global_process_set) -> Any:
    """The tensor of one rank, on all of them; `root_rank` counts all ranks, also in a process set."""
    return _Broadcast.apply(tensor, root_rank, name, process_set)
