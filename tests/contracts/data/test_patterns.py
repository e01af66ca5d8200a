"""Patterns mean what users expect of them, and none makes the server think for hours."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runyard.contracts.data.patterns import compiled

PART = st.one_of(st.just("**"), st.text("ab*?.", min_size=1, max_size=5))
NAME = st.text("ab.", min_size=1, max_size=4)


def plainly(pattern: str) -> re.Pattern[str]:
    """The same without a thought for how long it takes."""
    parts = pattern.split("/")
    made = ""
    for number, part in enumerate(parts):
        last = number == len(parts) - 1
        if part == "**":
            made += ".+" if last else "(?:.+/)?"
        else:
            wild = {"*": "[^/]*", "?": "[^/]"}
            made += "".join(wild.get(char, re.escape(char)) for char in re.sub(r"\*+", "*", part))
            made += "" if last else "/"
    return re.compile(made, re.DOTALL)


@given(st.lists(PART, min_size=1, max_size=6).map("/".join), st.lists(NAME, min_size=1, max_size=7).map("/".join))
def test_it_means_the_same_as_one_that_takes_its_time(pattern: str, path: str) -> None:
    assert bool(compiled(pattern).fullmatch(path)) == bool(plainly(pattern).fullmatch(path))


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a" * 500 + "b", "a" * 255),
        ("**/" * 500 + "x", "a/" * 500 + "y"),
        ("**/a/" * 300 + "x", "a/" * 500 + "y"),
        ("/".join(["**/a*a*a"] * 50) + "z", "aaaaaaaa/" * 100 + "y"),
    ],
)
def test_a_pattern_that_fits_in_very_many_ways(pattern: str, path: str) -> None:
    assert compiled(pattern).fullmatch(path) is None
