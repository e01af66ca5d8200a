"""Moving arrays of TensorFlow: over a ring of TCP lines of this layer's own.

TensorFlow's collectives need the cluster to be named before its first operation, cannot be used in the sessions that
scripts of TensorFlow 1 make for themselves, and hang where ranks disagree. A ring serves eager code, functions, graphs
and Keras alike. Arrays are handed over without a copy where TensorFlow can.
"""

from __future__ import annotations

from typing import Any

import numpy

from ..core.negotiator import Job, Negotiator
from ..core.requests import ALLGATHER, ALLREDUCE, ALLTOALL, BROADCAST, REDUCESCATTER, Request
from ..core.ring import Ring

FRAMEWORK = "tensorflow"


def _add(mine: Any, theirs: Any) -> None:
    numpy.add(mine, theirs, out=mine)


_COMBINE = {
    "min": lambda mine, theirs: numpy.copyto(mine, numpy.minimum(mine, theirs)),
    "max": lambda mine, theirs: numpy.copyto(mine, numpy.maximum(mine, theirs)),
    "product": lambda mine, theirs: numpy.copyto(mine, numpy.multiply(mine, theirs)),
}


class ArrayTransport:
    def __init__(self, negotiator: Negotiator) -> None:
        self._place = negotiator.place
        self._ring = Ring(negotiator, FRAMEWORK) if self._place.size > 1 else None

    def close(self) -> None:
        if self._ring is not None:
            self._ring.close()

    def perform(self, job: Job) -> list[Any]:
        """The payload of a ticket is a list of arrays, and so is its output."""
        request = job.requests[0]
        if request.kind == ALLREDUCE:
            return self._allreduce(job)
        payload = job.tickets[0].payload
        if request.kind == ALLGATHER:
            return [[self._gather(array, rows) for array, rows in zip(payload, job.of_ranks)]]
        if request.kind == BROADCAST:
            return [[self._broadcast(array, request.root) for array in payload]]
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
            work = work // self._place.size
        elif request.op == "average":
            post /= self._place.size
        return _scaled(work, post).astype(flat.dtype, copy=False)

    def _adasum(self, array: Any, request: Request) -> Any:
        size = self._place.size
        if size & (size - 1):
            raise NotImplementedError(f"Adasum needs a power of two of ranks, not {size}.")
        rows = list(self._gather(array.reshape(1, -1), [1] * size).astype(numpy.float64))
        while len(rows) > 1:
            rows = [_adasum_of_two(rows[each], rows[each + 1]) for each in range(0, len(rows), 2)]
        return (rows[0] * request.postscale).reshape(array.shape).astype(array.dtype)

    def _scattered(self, array: Any, request: Request) -> Any:
        whole = self._reduced(array.reshape(-1).copy(), request).reshape(array.shape)
        each, more = divmod(array.shape[0], self._place.size)
        rank = self._place.rank
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
        parts[self._place.rank][:] = array.reshape(-1)
        self._ring.gather(parts)
        return whole

    def _broadcast(self, array: Any, root: int) -> Any:
        found = numpy.array(array, copy=True, order="C")
        if self._ring is not None:
            self._ring.broadcast(found.reshape(-1), root)
        return found

    def _alltoall(self, array: Any, splits: list[list[int]]) -> list[Any]:
        """All rows go round, and each rank keeps its own: simple, and as many bytes as a gather."""
        received = [row[self._place.rank] for row in splits]
        whole = self._gather(numpy.ascontiguousarray(array), [sum(row) for row in splits])
        parts, start = [], 0
        for row in splits:
            before = start + sum(row[: self._place.rank])
            parts.append(whole[before : before + row[self._place.rank]])
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
