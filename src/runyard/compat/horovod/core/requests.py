"""What a rank wants done with a tensor, and where the ranks disagree on it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any, Mapping, Sequence, Tuple

ALLREDUCE, ALLGATHER, BROADCAST = "allreduce", "allgather", "broadcast"
ALLTOALL, REDUCESCATTER, BARRIER, SHARE = "alltoall", "reducescatter", "barrier", "share"

Member = Tuple[str, str, Tuple[int, ...]]
"""One tensor of a request: its name, type and shape."""


@dataclass(frozen=True)
class Request:
    """One collective. Several tensors that are reduced together are the members of one request."""

    name: str
    kind: str
    members: tuple[Member, ...] = ()
    op: str = ""
    root: int = -1
    prescale: float = 1.0
    postscale: float = 1.0
    device: str = "cpu"
    splits: tuple[int, ...] = ()  # of alltoall: how many rows go to each rank
    value: Any = None  # of share: what this rank tells the others
    ranks: tuple[int, ...] = ()  # who takes part; empty: all

    def as_list(self) -> list[Any]:
        own = [self.kind, [[name, dtype, list(shape)] for name, dtype, shape in self.members], self.op, self.root]
        return [*own, self.prescale, self.postscale, self.device, list(self.splits), self.value, list(self.ranks)]

    @staticmethod
    def from_list(name: str, fields: Sequence[Any]) -> Request:
        kind, members, op, root, prescale, postscale, device, splits, value, ranks = fields
        found = tuple((str(each[0]), str(each[1]), tuple(each[2])) for each in members)
        return Request(name, kind, found, op, root, prescale, postscale, device, tuple(splits), value, tuple(ranks))

    def digest(self) -> str:
        """Equal where all but the name is equal."""
        text = json.dumps(self.as_list(), separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:24]

    @property
    def fuses_with(self) -> tuple[Any, ...]:
        """What must be equal for two reductions to be done in one."""
        return (self.members[0][1], self.op, self.prescale, self.postscale, self.device, self.ranks)

    @property
    def elements(self) -> int:
        total = 0
        for _, _, shape in self.members:
            count = 1
            for each in shape:
                count *= each
            total += count
        return total


def disagreement(name: str, requests: Mapping[int, Request], size: int) -> str | None:
    """In words, where the ranks want different things under one name; None where they agree."""
    first = requests[min(requests)]
    if all(each == first for each in requests.values()) and first.kind in (ALLREDUCE, BROADCAST, BARRIER):
        return _cannot(name, first, size)
    asked = {
        "operation": lambda each: each.kind,
        "number of tensors": lambda each: len(each.members),
        "root rank": lambda each: each.root,
        "reduction": lambda each: each.op or "none",
        "prescale factor": lambda each: each.prescale,
        "postscale factor": lambda each: each.postscale,
        "device": lambda each: each.device,
    }
    for what, of in asked.items():
        said = _differing(requests, of)
        if said:
            return f"The ranks disagree on the {what} of the tensor {name!r}: {said}."
    for place in range(len(first.members)):
        member = first.members[place][0]
        for what, index in (("name", 0), ("type", 1), ("shape", 2)):
            gathered = first.kind in (ALLGATHER, ALLTOALL) and what == "shape"
            said = _differing(requests, lambda each, p=place, i=index, g=gathered: _shown(each.members[p][i], g))
            if said:
                return f"The ranks disagree on the {what} of the tensor {member!r}: {said}."
    return _cannot(name, first, size)


def name_within(name: str, ranks: Sequence[int]) -> str:
    """The name of what only some ranks do, which is apart from what others do under the same name.

    >>> name_within("loss", [0, 2]), name_within("loss", [])
    ('loss (among ranks 0 and 2)', 'loss')
    """
    if not ranks:
        return name
    more = f": {hashlib.sha256(str(list(ranks)).encode()).hexdigest()[:8]}" if len(ranks) > 20 else ""
    return f"{name} (among {ranks_in_words(ranks)}{more})"


def ranks_in_words(ranks: Sequence[int]) -> str:
    """
    >>> ranks_in_words([0, 2]), ranks_in_words([1])
    ('ranks 0 and 2', 'rank 1')
    """
    if len(ranks) == 1:
        return f"rank {ranks[0]}"
    shown = [str(rank) for rank in ranks[:20]]
    if len(ranks) > 20:
        return f"ranks {', '.join(shown)} and {len(ranks) - 20} others"
    return f"ranks {', '.join(shown[:-1])} and {shown[-1]}"


def _cannot(name: str, request: Request, size: int) -> str | None:
    """Why what all ranks agree on cannot be done."""
    if request.kind == BROADCAST and request.root not in (request.ranks or range(size)):
        here = ranks_in_words(request.ranks) if request.ranks else f"{size} ranks"
        return f"The tensor {name!r} is broadcast from rank {request.root}, and there are {here}."
    shapes = [shape for _, _, shape in request.members]
    if request.kind in (ALLGATHER, ALLTOALL, REDUCESCATTER) and any(len(shape) == 0 for shape in shapes):
        return f"The tensor {name!r} is a scalar, which has no first dimension for {request.kind}."
    return _no_adasum(name, request, size) if request.op == "adasum" else None


def _no_adasum(name: str, request: Request, size: int) -> str | None:
    """Ranks are combined in pairs, and pairs in pairs."""
    count = len(request.ranks) or size
    if count & (count - 1):
        return f"The tensor {name!r} is to be reduced by Adasum, which needs 2, 4, 8, ... ranks, and there are {count}."
    for member, dtype, _ in request.members:
        if "float" not in dtype:
            return f"The tensor {member!r} is {dtype}, and Adasum is for floating point numbers."
    if request.kind != ALLREDUCE:
        return f"The tensor {name!r} cannot be reduced by Adasum in {request.kind}: only allreduce has it."
    return None


def _differing(requests: Mapping[int, Request], of: Any) -> str:
    by_value: dict[str, list[int]] = {}
    for rank in sorted(requests):
        by_value.setdefault(str(of(requests[rank])), []).append(rank)
    if len(by_value) == 1:
        return ""
    return ", ".join(f"{value} on {ranks_in_words(ranks)}" for value, ranks in by_value.items())


def _shown(value: Any, gathered: bool) -> Any:
    """A shape without its first dimension where that may differ."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(str, ('*', *value[1:]) if gathered and value else value))}]"
    return value
