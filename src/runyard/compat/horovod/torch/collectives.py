"""The collectives on tensors of torch, among all ranks or those of a process set: how each is made of what gloo and
nccl can do."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Callable, Sequence

import torch
import torch.distributed as dist

from ..core.negotiator import Job
from ..core.requests import ALLGATHER, ALLREDUCE, ALLTOALL, BROADCAST, REDUCESCATTER, Request
from .adasum import adasum

LIMIT = timedelta(days=7)  # how long a collective may take: the coordinator sees to ranks that are gone

LARGE = 4 << 20  # bytes from which on a tensor is reduced on its own, where it is

_STAND_INS = {torch.bool: torch.uint8, torch.int16: torch.int32}
_OPS = {"min": "MIN", "max": "MAX", "product": "PRODUCT"}


class Collectives:
    """What some ranks do among themselves; `rank` is the place of this process among them."""

    def __init__(self, ranks: Sequence[int], rank: int, store: Any) -> None:
        self.ranks, self.rank, self.size = tuple(ranks), ranks.index(rank), len(ranks)
        self._groups: dict[str, Any] = {}
        self._buffers: dict[str, Any] = {}
        if self.size > 1:
            self._store = dist.PrefixStore("-".join(map(str, ranks)), store)
            self._groups["cpu"] = dist.ProcessGroupGloo(
                dist.PrefixStore("gloo", self._store), self.rank, self.size, LIMIT
            )

    def perform(self, job: Job, request: Request) -> list[Any]:
        if request.kind == ALLREDUCE:
            return self._allreduce(job, request)
        payload = job.tickets[0].payload
        if request.kind == ALLGATHER:
            return [[self._allgather(tensor, rows) for tensor, rows in zip(payload, job.of_ranks)]]
        if request.kind == BROADCAST:
            return [self._broadcast(payload, self.ranks.index(request.root))]
        if request.kind == ALLTOALL:
            return [self._alltoall(payload[0], job.of_ranks, request)]
        if request.kind == REDUCESCATTER:
            return [[self._scattered(tensor, request) for tensor in payload]]
        raise NotImplementedError(request.kind)

    # -- reducing -----------------------------------------------------------------------------------------------------

    def _allreduce(self, job: Job, request: Request) -> list[Any]:
        """The members of all requests of a job at once: they are of one kind. A payload is the pairs of what goes in
        and what the result is written to."""
        pairs = [pair for ticket in job.tickets for pair in ticket.payload]
        if not job.tickets:  # joined
            members = [member for each in job.requests for member in each.members]
            pairs = [(_zeros(shape, dtype, request), None) for _, dtype, shape in members]
        if request.op == "adasum":
            for source, target in pairs:
                result = adasum(source * request.prescale, self.rank, self.size, self._groups.get("cpu"))
                if target is not None:
                    target.copy_(result.mul_(request.postscale))
        else:
            self._reduce_pairs(pairs, request)
        return [[target for _, target in ticket.payload] for ticket in job.tickets]

    def _reduce_pairs(self, pairs: list[Any], request: Request) -> None:
        """Small tensors travel in one buffer; large ones from where they are, because copies would cost more than
        another message. All are under way before one is waited for. Which are large is the same on every rank."""
        small: dict[Any, list[Any]] = {}
        parts: list[tuple[Any, list[Any], list[Any]]] = []  # what is reduced; where its views are written to
        for source, target in pairs:
            if source.numel() * source.element_size() < LARGE:
                small.setdefault(source.dtype, []).append((source, target))
            else:
                parts.append(_placed(source, target))
        for dtype, group in small.items():
            if len(group) == 1:
                parts.append(_placed(*group[0]))
                continue
            flat = self._buffer(dtype, sum(source.numel() for source, _ in group), group[0][0].device)
            views, start = [], 0
            for source, _ in group:
                views.append(flat[start : start + source.numel()].view(source.shape))
                start += source.numel()
            _copy_all(views, [source for source, _ in group])
            targets = [target for _, target in group if target is not None]
            parts.append((flat, targets, views))
        under_way = [self._begin(flat, request) for flat, _, _ in parts]
        for finish, (flat, targets, views) in zip(under_way, parts):
            factor = finish()
            if targets:
                _copy_all(targets, views, factor)
            else:
                _scale(flat, factor)

    def _reduce(self, tensor: Any, request: Request) -> None:
        """In place: scaled and reduced over all ranks."""
        _scale(tensor, self._begin(tensor, request)())

    def _begin(self, tensor: Any, request: Request) -> Callable[[], float]:
        """Begin to reduce in place; the call that comes back waits, and returns what the tensor is still to be scaled
        by, so that this can be done on the way to where it goes. A whole number that is averaged is rounded down."""
        stand_in = _STAND_INS.get(tensor.dtype)
        work = tensor.to(stand_in) if stand_in is not None else tensor
        post, whole = request.postscale, not work.is_floating_point() and not work.is_complex()
        _scale(work, request.prescale)
        under_way = self._all(work, _OPS.get(request.op, "SUM")) if self.size > 1 and work.numel() else None

        def finish() -> float:
            if under_way is not None:
                under_way.wait()
            if request.op == "average" and whole:
                work.floor_divide_(self.size)
            factor = post / self.size if request.op == "average" and not whole else post
            if work is tensor:
                return factor
            _scale(work, factor)
            tensor.copy_(work)
            return 1.0

        return finish

    def _all(self, tensor: Any, op: str) -> Any:
        options = dist.AllreduceOptions()
        options.reduceOp = getattr(dist.ReduceOp, op)
        target = torch.view_as_real(tensor) if tensor.is_complex() else tensor
        return self._group(tensor).allreduce([target], options)

    def _scattered(self, tensor: Any, request: Request) -> Any:
        """This rank's rows of the reduced tensor; the first ranks have one more where they do not divide evenly."""
        whole = tensor.clone(memory_format=torch.contiguous_format)
        self._reduce(whole, request)
        each, more = divmod(tensor.shape[0], self.size)
        rank = self.rank
        start = rank * each + min(rank, more)
        return whole[start : start + each + (rank < more)].clone()

    # -- moving -------------------------------------------------------------------------------------------------------

    def _allgather(self, tensor: Any, rows: list[int]) -> Any:
        if self.size == 1:
            return tensor.clone()
        return self._gather(tensor.contiguous(), rows)

    def _gather(self, tensor: Any, rows: list[int]) -> Any:
        """Rows may differ from rank to rank: all are filled up to the most, and cut again."""
        tensor, back = _movable(tensor)
        most = max(rows)
        shape = (most, *tensor.shape[1:])
        padded = tensor
        if tensor.shape[0] < most:
            padded = tensor.new_zeros(shape)
            padded[: tensor.shape[0]] = tensor
        found = [tensor.new_empty(shape) for _ in rows]
        if padded.numel():
            self._group(tensor).allgather([found], [padded]).wait()
        return back(torch.cat([each[:count] for each, count in zip(found, rows)]))

    def _broadcast(self, pairs: list[Any], root: int) -> list[Any]:
        for source, target in pairs:
            work = target if target.is_contiguous() else target.contiguous()
            if self.rank == root and source is not target:
                work.copy_(source)
            if self.size > 1 and work.numel():
                moved, _ = _movable(work, view=True)
                options = dist.BroadcastOptions()
                options.rootRank, options.rootTensor = root, 0
                self._group(work).broadcast([moved], options).wait()
            if work is not target:
                target.copy_(work)
        return [target for _, target in pairs]

    def _alltoall(self, tensor: Any, splits: list[list[int]], request: Request) -> Any:
        received = [row[self.rank] for row in splits]
        shown = torch.tensor(received, dtype=torch.int32)
        if self.size == 1:
            return tensor.clone(), shown
        moved, back = _movable(tensor.contiguous())
        output = moved.new_empty((sum(received), *moved.shape[1:]))
        if sum(map(sum, splits)) and _row_size(moved):
            self._group(tensor).alltoall_base(
                output, moved, received, list(request.splits), dist.AllToAllOptions()
            ).wait()
        return back(output), shown

    def _group(self, tensor: Any) -> Any:
        """The process group for the device of a tensor; that of GPUs is made when one is first there."""
        if not tensor.is_cuda:
            return self._groups["cpu"]
        if "cuda" not in self._groups:
            store = dist.PrefixStore("nccl", self._store)
            options = dist.ProcessGroupNCCL.Options()
            options._timeout = LIMIT
            self._groups["cuda"] = dist.ProcessGroupNCCL(store, self.rank, self.size, options)
        return self._groups["cuda"]

    def _buffer(self, dtype: Any, count: int, device: Any) -> Any:
        """Room for what is reduced together: kept, because new memory costs more than the copy into it."""
        key = f"{dtype}/{device}"
        kept = self._buffers.get(key)
        if kept is None or kept.numel() < count:
            kept = self._buffers[key] = torch.empty(count, dtype=dtype, device=device)
        return kept[:count]


def _placed(source: Any, target: Any) -> tuple[Any, list[Any], list[Any]]:
    """One tensor that is reduced on its own: in its target, where that is in one piece."""
    if target is None:  # joined
        return source, [], []
    if target.is_contiguous():
        if source is not target:
            target.copy_(source)
        return target, [], []
    flat = source.clone(memory_format=torch.contiguous_format)
    return flat, [target], [flat]


def _scale(tensor: Any, factor: float) -> None:
    if factor == 1.0:
        return
    if tensor.is_floating_point() or tensor.is_complex():
        tensor.mul_(factor)
    else:
        tensor.copy_((tensor.to(torch.float64) * factor).to(tensor.dtype))


def _copy_all(targets: list[Any], sources: list[Any], factor: float = 1.0) -> None:
    if factor != 1.0:
        for target, source in zip(targets, sources):
            if source.is_floating_point() and source.dtype == target.dtype:
                torch.mul(source, factor, out=target)
            else:
                _scale(source, factor)
                target.copy_(source)
    elif hasattr(torch, "_foreach_copy_"):
        torch._foreach_copy_(targets, sources)
    else:
        for target, source in zip(targets, sources):
            target.copy_(source)


def _movable(tensor: Any, view: bool = False) -> Any:
    """The same bytes as a type that every backend moves, and the way back."""
    dtype = tensor.dtype
    if tensor.is_cuda or dtype in (torch.float32, torch.float64, torch.int32, torch.int64, torch.uint8, torch.int8):
        return tensor, lambda moved: moved
    if tensor.dim() == 0:
        return tensor.view(1).view(torch.uint8), lambda moved: moved.view(dtype)
    width = tensor.element_size() * (tensor.shape[-1] if tensor.dim() > 1 else 1)
    if tensor.dim() == 1 and not view:
        return tensor.reshape(-1, 1).view(torch.uint8), lambda moved: moved.view(dtype).reshape(-1)
    return tensor.view(torch.uint8), lambda moved: moved.view(dtype) if width else moved.to(dtype)


def _row_size(tensor: Any) -> int:
    size = 1
    for each in tensor.shape[1:]:
        size *= each
    return size


def _device(request: Request) -> Any:
    return torch.device(request.device.partition("/")[2])


def _zeros(shape: Any, dtype: str, request: Request) -> Any:
    return torch.zeros(tuple(shape), dtype=getattr(torch, dtype), device=_device(request))
