"""Where ranks disagree, the words name the tensor and the ranks."""

from __future__ import annotations

import doctest
from dataclasses import replace

import pytest

from runyard.compat.horovod.core import requests
from runyard.compat.horovod.core.requests import ALLGATHER, ALLREDUCE, BROADCAST, Request, disagreement, name_within

PLAIN = Request("x", ALLREDUCE, (("x", "float32", (2, 3)),), op="sum")


def test_the_examples_run() -> None:
    assert doctest.testmod(requests).failed == 0


def test_a_request_survives_the_way() -> None:
    request = replace(PLAIN, root=1, splits=(1, 2), value={"a": 1}, ranks=(0, 2))
    assert Request.from_list("x", request.as_list()) == request
    assert request.digest() == replace(request, name="y").digest() != PLAIN.digest()


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (
            replace(PLAIN, kind=BROADCAST),
            "operation of the tensor 'x': allreduce on ranks 0 and 1, broadcast on rank 2",
        ),
        (replace(PLAIN, members=(("x", "float64", (2, 3)),)), "type of the tensor 'x': float32 on ranks 0 and 1"),
        (replace(PLAIN, members=(("x", "float32", (2, 4)),)), r"\[2, 3\] on ranks 0 and 1, \[2, 4\] on rank 2"),
        (replace(PLAIN, members=PLAIN.members * 2), "number of tensors"),
        (replace(PLAIN, op="max"), "reduction of the tensor 'x': sum on ranks 0 and 1, max on rank 2"),
        (replace(PLAIN, prescale=2.0), "prescale factor"),
        (replace(PLAIN, postscale=2.0), "postscale factor"),
        (replace(PLAIN, device="torch/cuda"), "device"),
    ],
)
def test_every_difference_is_named(other: Request, words: str) -> None:
    said = disagreement("x", {0: PLAIN, 1: PLAIN, 2: other}, 3)
    assert said is not None
    with pytest.raises(ValueError, match=words):
        raise ValueError(said)


def test_rows_may_differ_where_they_are_gathered() -> None:
    one, other = (replace(PLAIN, kind=ALLGATHER, members=(("x", "int8", (rows, 3)),)) for rows in (1, 5))
    assert disagreement("x", {0: one, 1: other}, 2) is None
    wider = replace(one, members=(("x", "int8", (1, 4)),))
    assert r"[*, 3] on rank 0, [*, 4] on rank 1" in str(disagreement("x", {0: one, 1: wider}, 2))


def test_what_all_agree_on_may_still_be_impossible() -> None:
    assert "rank 5, and there are 2 ranks" in str(disagreement("x", {0: replace(PLAIN, kind=BROADCAST, root=5)}, 2))
    scalar = replace(PLAIN, kind=ALLGATHER, members=(("x", "int8", ()),))
    assert "is a scalar" in str(disagreement("x", {0: scalar, 1: scalar}, 2))


def test_many_ranks_are_not_all_listed() -> None:
    assert requests.ranks_in_words(range(30)).endswith("19 and 10 others")


@pytest.mark.parametrize(
    ("request_of_all", "size", "words"),
    [
        (replace(PLAIN, op="adasum"), 3, "needs 2, 4, 8, ... ranks, and there are 3"),
        (replace(PLAIN, op="adasum", members=(("x", "int64", (2,)),)), 4, "is int64, and Adasum"),
        (replace(PLAIN, op="adasum", kind="reducescatter"), 4, "only allreduce"),
        (replace(PLAIN, kind=BROADCAST, op="", root=1, ranks=(0, 2)), 3, "from rank 1, and there are ranks 0 and 2"),
    ],
)
def test_what_all_agree_on_and_cannot_be_done(request_of_all: Request, size: int, words: str) -> None:
    ranks = request_of_all.ranks or range(size)
    assert words in (disagreement("x", dict.fromkeys(ranks, request_of_all), size) or "")


def test_adasum_of_a_set_counts_the_ranks_of_the_set() -> None:
    asked = replace(PLAIN, op="adasum", ranks=(0, 2))
    assert disagreement("x", {0: asked, 2: asked}, 3) is None


def test_names_of_large_sets_differ() -> None:
    names = {name_within("x", [*range(30), last]) for last in (40, 50)}
    assert len(names) == 2
