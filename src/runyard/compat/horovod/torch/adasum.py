"""Adasum, by which gradients of several ranks are combined so that what they have in common is not added twice.

Of two gradients a and b it is (1 - a.b / 2a.a) a + (1 - a.b / 2b.b) b: their sum where they are orthogonal, their
average where they are equal. Ranks are combined in pairs, then pairs in pairs, and so on. Each rank works on a half of
what it had before in every round, and the parts are put together at the end: so many bytes travel as in an allreduce.
"""

from __future__ import annotations

from typing import Any

import torch


def adasum(tensor: Any, rank: int, size: int, group: Any) -> Any:
    """The combination of a tensor over all ranks, whose number is a power of two; `group` sends between two."""
    # Gloo has no pairs on a GPU, and nccl may not send both ways at once: numbers go through memory.
    wide = torch.float64 if tensor.dtype == torch.float64 else torch.float32
    whole = tensor.detach().to("cpu", wide).reshape(-1).clone()
    part, rounds = whole, []
    for distance in (1 << level for level in range(size.bit_length() - 1)):
        partner, first = rank ^ distance, not rank & distance
        half = part.numel() // 2
        mine, given = (part[:half], part[half:]) if first else (part[half:], part[:half])
        theirs = torch.empty_like(mine)
        _swap(group, partner, given, theirs)
        a, b = (mine, theirs) if first else (theirs, mine)
        dots = _summed(group, rank, distance, _dots(a, b))
        mine.copy_(_factor(dots[0], dots[1]) * a + _factor(dots[0], dots[2]) * b)
        rounds.append((partner, mine, given))
        part = mine
    for partner, mine, given in reversed(rounds):
        _swap(group, partner, mine, given)
    return whole.reshape(tensor.shape).to(tensor.device, tensor.dtype)


def _dots(a: Any, b: Any) -> Any:
    a, b = a.double(), b.double()
    return torch.stack([torch.dot(a, b), torch.dot(a, a), torch.dot(b, b)])


def _factor(dot: Any, square: Any) -> float:
    return 1.0 if square == 0 else 1.0 - float(dot / (2 * square))


def _summed(group: Any, rank: int, distance: int, dots: Any) -> Any:
    """Over all ranks that have a part of the same two gradients."""
    step = 1
    while step <= distance:
        other = torch.empty_like(dots)
        _swap(group, rank ^ step, dots, other)
        dots = dots + other
        step *= 2
    return dots


def _swap(group: Any, partner: int, out: Any, into: Any) -> None:
    under_way = []
    if out.numel():
        under_way.append(group.send([out], partner, 0))
    if into.numel():
        under_way.append(group.recv([into], partner, 0))
    for each in under_way:
        each.wait()
