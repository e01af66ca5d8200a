"""Arguments as parameters: read by custom, changed in the form that they had, and never lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runyard.contracts.formats.arguments import changed, parameters

WORDS = st.lists(st.sampled_from(["--lr", "--lr=1", "-x", "0.5", "-3", "data", "--flag", "--", "-", "", "--a.b=c=d"]))


@pytest.mark.parametrize(
    ("arguments", "read"),
    [
        ([], {}),
        (["a", "b"], {"#1": "a", "#2": "b"}),
        (["--lr", "1", "--lr", "2"], {"lr": "2"}),
        (["-b", "4", "--x=y=z"], {"b": "4", "x": "y=z"}),
        (["--on", "--off"], {"on": "true", "off": "true"}),
        (["--shift", "-1e-3"], {"shift": "-1e-3"}),
        (["--", "-"], {"#1": "--", "#2": "-"}),
    ],
)
def test_reading(arguments: list[str], read: dict[str, str]) -> None:
    assert parameters(arguments) == read


@pytest.mark.parametrize(
    ("arguments", "changes", "made"),
    [
        (["--lr", "1", "--lr", "2"], {"lr": "3"}, ["--lr", "1", "--lr", "3"]),
        (["--fast"], {"fast": "no"}, ["--fast", "no"]),
        (["data"], {"-n": "3"}, ["data", "-n", "3"]),
        (["-n", "1"], {"n": "2"}, ["-n", "2"]),
    ],
)
def test_changing(arguments: list[str], changes: dict[str, str], made: list[str]) -> None:
    assert changed(arguments, changes) == made


@given(WORDS)
def test_what_was_set_is_read_and_the_rest_stays(arguments: list[str]) -> None:
    made = changed(arguments, {"lr": "7"})
    assert parameters(made)["lr"] == "7"
    before, after = parameters(arguments), parameters(made)
    assert {name: value for name, value in after.items() if name != "lr"} == {
        name: value for name, value in before.items() if name != "lr"
    }
