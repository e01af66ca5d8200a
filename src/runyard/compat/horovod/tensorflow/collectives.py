"""The collectives on arrays of TensorFlow, among all ranks or those of a process set, over a ring of them."""

from __future__ import annotations

from typing import Any

import numpy

from ..core.negotiator import Job
from ..core.requests import ALLGATHER, ALLREDUCE, ALLTOALL, BROADCAST, REDUCESCATTER, Request
from ..core.ring import Ring


def _add(mine: Any, theirs: Any) -> None:
    numpy.add(mine, theirs, out=mine)


_COMBINE = {
    "min": lambda mine, theirs: numpy.copyto(mine, numpy.minimum(mine, theirs)),
    "max": lambda mine, theirs: numpy.copyto(mine, numpy.maximum(mine, theirs)),
    "product": lambda mine, theirs: numpy.copyto(mine, numpy.multiply(mine, theirs)),
}


class Collectives:
    """What some ranks do among themselves; `rank` is the place of this process among them."""

    def __init__(self, ranks: tuple[int, ...], rank: int, ring: Ring | None) -> None:
        self.ranks, self.rank, self.size = ranks, ranks.index(rank), len(ranks)
        self._ring = ring

    def perform(self, job: Job) -> list[Any]:
        request = job.requests[0]
        if request.kind == ALLREDUCE:
            return self._allreduce(job)
        payload = job.tickets[0].payload
        if request.kind == ALLGATHER:
            return [[self._gather(array, rows) for array, rows in zip(payload, job.of_ranks)]]
        if request.kind == BROADCAST:
            return [[self._broadcast(array, self.ranks.index(request.root)) for array in payload]]
        if request.kind == ALLTOALL:
            return [self._alltoall(payload[0], job.of_ranks)]
        if request.kind == REDUCESCATTER:
            return [[self._scattered(array, request) for array in payload]]
        raise NotImplementedError(request.kind)

    def _allreduce(self, job: Job) -> list[Any]:
        request = job.requests[0]
        arrays = [array for ticket in job.tickets for array in ticket.payload]
        if not job.tickets:  # joined
            members = [member for each in job.requests for member in each.members]
            arrays = [numpy.zeros(shape, _dtype(name)) for _, name, shape in members]
        results: list[Any] = [None] * len(arrays)
        by_type: dict[Any, list[int]] = {}
        for place, array in enumerate(arrays):
            by_type.setdefault(array.dtype, []).append(place)
        for dtype, places in by_type.items():
            if request.op == "adasum":
                for place in places:
                    results[place] = self._adasum(arrays[place] * dtype.type(request.prescale), request)
                continue
            flat = numpy.empty(sum(arrays[place].size for place in places), dtype)
            start = 0
            for place in places:
                flat[start : start + arrays[place].size] = arrays[place].reshape(-1)
                start += arrays[place].size
            flat, start = self._reduced(flat, request), 0
            for place in places:
                size = arrays[place].size
                results[place] = flat[start : start + size].reshape(arrays[place].shape)
                start += size
        outputs, start = [], 0
        for ticket in job.tickets:
            outputs.append(results[start : start + len(ticket.payload)])
            start += len(ticket.payload)
        return outputs

    def _reduced(self, flat: Any, request: Request) -> Any:
        """Scaled, reduced over all ranks, scaled. A whole number that is averaged is rounded down."""
        whole = flat.dtype.kind in "iub"
        work = flat.astype(numpy.uint8) if flat.dtype.kind == "b" else flat
        work = _scaled(work, request.prescale)
        if self._ring is not None:
            self._ring.reduce(work, _COMBINE.get(request.op, _add))
        post = request.postscale
        if request.op == "average" and whole:
            work = work // self.size
        elif request.op == "average":
            post /= self.size
        return _scaled(work, post).astype(flat.dtype, copy=False)

    def _adasum(self, array: Any, request: Request) -> Any:
        """As in `horovod.torch.adasum`; a ring has no pairs, so all gradients go round it."""
        rows = list(self._gather(array.reshape(1, -1), [1] * self.size).astype(numpy.float64))
        while len(rows) > 1:
            rows = [_adasum_of_two(rows[each], rows[each + 1]) for each in range(0, len(rows), 2)]
        return (rows[0] * request.postscale).reshape(array.shape).astype(array.dtype)

    def _scattered(self, array: Any, request: Request) -> Any:
        whole = self._reduced(array.reshape(-1).copy(), request).reshape(array.shape)
        each, more = divmod(array.shape[0], self.size)
        rank = self.rank
        start = rank * each + min(rank, more)
        return whole[start : start + each + (rank < more)].copy()

    def _gather(self, array: Any, rows: list[int]) -> Any:
        if self._ring is None:
            return array.copy()
        whole = numpy.empty((sum(rows), *array.shape[1:]), array.dtype)
        flat, parts, start = whole.reshape(-1), [], 0
        row = array[:1].size if array.shape[0] else int(numpy.prod(array.shape[1:], dtype=numpy.int64))
        for count in rows:
            parts.append(flat[start : start + count * row])
            start += count * row
        parts[self.rank][:] = array.reshape(-1)
        self._ring.gather(parts)
        return whole

    def _broadcast(self, array: Any, root: int) -> Any:
        found = numpy.array(array, copy=True, order="C")
        if self._ring is not None:
            self._ring.broadcast(found.reshape(-1), root)
        return found

    def _alltoall(self, array: Any, splits: list[list[int]]) -> list[Any]:
        """All rows go round, and each rank keeps its own: simple, and as many bytes as a gather."""
        received = [row[self.rank] for row in splits]
        whole = self._gather(numpy.ascontiguousarray(array), [sum(row) for row in splits])
        parts, start = [], 0
        for row in splits:
            before = start + sum(row[: self.rank])
            parts.append(whole[before : before + row[self.rank]])
            start += sum(row)
        return [numpy.concatenate(parts), numpy.array(received, numpy.int32)]


def _adasum_of_two(a: Any, b: Any) -> Any:
    dot, of_a, of_b = a @ b, a @ a, b @ b
    first = 1.0 if of_a == 0 else 1.0 - dot / (2 * of_a)
    second = 1.0 if of_b == 0 else 1.0 - dot / (2 * of_b)
    return first * a + second * b


def _scaled(array: Any, factor: float) -> Any:
    if factor == 1.0:
        return array
    if array.dtype.kind in "iu":
        return (array.astype(numpy.float64) * factor).astype(array.dtype)
    return array * array.dtype.type(factor)


def _dtype(name: str) -> Any:
    """The type of that name; TensorFlow adds some that numpy has not by itself."""
    try:
        return numpy.dtype(name)
    except TypeError:
        import tensorflow

        return numpy.dtype(tensorflow.dtypes.as_dtype(name).as_numpy_dtype)
