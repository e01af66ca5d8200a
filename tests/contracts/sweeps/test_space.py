"""The space of a sweep: what is taken, what is refused before anything is started, and how large it is."""

from __future__ import annotations

from typing import Any

import pytest

from runyard.contracts.sweeps import space


def test_every_expression_of_sdk_v1_is_taken() -> None:
    document: dict[str, Any] = {
        "--batch": ["choice", [[25, 50]]],
        "n": ["randint", [7]],
        "a": ["uniform", [0, 1]],
        "b": ["quniform", [0, 10, 2]],
        "c": ["loguniform", [-6, -1]],
        "d": ["qloguniform", [1, 3, 1]],
        "e": ["normal", [0, 1]],
        "f": ["qnormal", [0, 10, 5]],
        "g": ["lognormal", [0, 1]],
        "h": ["qlognormal", [0, 1, 1]],
    }
    found = space.parse(document)
    assert {name: [each.name, list(each.arguments)] for name, each in found.items()} == document
    assert [found[name].size for name in ("--batch", "n", "b", "a", "e")] == [2, 7, 6, None, None]
    assert space.size(found) is None
    assert space.size({name: found[name] for name in ("--batch", "n", "b")}) == 84


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({}, "empty"),
        ([1], "empty"),
        ({"": ["choice", [[1]]]}, "no name"),
        ({"--": ["choice", [[1]]]}, "no name"),
        ({"lr": 0.1}, "no expression"),
        ({"lr": ["gaussian", [0, 1]]}, "there are: choice"),
        ({"lr": ["choice", [[]]]}, "nothing to choose"),
        ({"lr": ["randint", [0]]}, "from 1 on"),
        ({"lr": ["uniform", [1, 1]]}, "must be below"),
        ({"lr": ["uniform", [0]]}, "takes 2 numbers"),
        ({"lr": ["uniform", ["a", 1]]}, "takes numbers"),
        ({"lr": ["uniform", [0, float("nan")]]}, "takes numbers"),
        ({"lr": ["uniform", [0, 10**400]]}, "takes numbers"),
        ({"lr": ["uniform", [True, 2]]}, "takes numbers"),
        ({"lr": ["loguniform", [2, 1]]}, "is above"),
        ({"lr": ["loguniform", [0, 1e5]]}, "no number"),
        ({"lr": ["normal", [0, -1]]}, "sigma"),
        ({"lr": ["lognormal", [0, 1000]]}, "no number"),
        ({"lr": ["quniform", [0, 1, 0.5]]}, "whole number"),
        ({"lr": ["quniform", [0, 1, 0]]}, "whole number"),
        ({"lr": ["choice", [[1]]], "--lr": ["choice", [[1]]]}, "are one"),
    ],
)
def test_what_cannot_be_sampled_is_refused_with_words(document: Any, words: str) -> None:
    with pytest.raises(space.BadSpace, match=words):
        space.parse(document)
