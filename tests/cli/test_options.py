from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
import typer

from runyard.cli import options


@pytest.mark.parametrize(
    ("text", "count"),
    [("0", 0), ("100", 100), ("20GB", 20 * 10**9), ("20 gb", 20 * 10**9), ("1.5MiB", 1572864), ("2k", 2000)],
)
def test_sizes(text: str, count: int) -> None:
    assert options.size(text, "--limit") == count


@pytest.mark.parametrize("text", ["", "much", "-1GB", "1XB", "GB"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="is no size"):
        options.size(text, "--limit")


@pytest.mark.parametrize(("text", "length"), [("90s", 90), ("2min", 120), ("2m", 120), ("1.5h", 5400), ("2w", 1209600)])
def test_lengths_of_time(text: str, length: float) -> None:
    assert options.seconds(text, "--older-than") == length


@pytest.mark.parametrize("text", ["", "30", "d", "1y", "-1d"])
def test_what_is_no_length_of_time_is_refused(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="is no length of time"):
        options.seconds(text, "--older-than")


def test_a_time_ago() -> None:
    before = datetime.now(timezone.utc)
    found = options.time_ago("1h", "--older-than")
    assert found is not None
    assert before <= found + timedelta(hours=1) <= datetime.now(timezone.utc)
    assert options.time_ago(None, "--older-than") is None
    with pytest.raises(typer.BadParameter, match="before there was a calendar"):
        options.time_ago("9999999w", "--older-than")


def test_pairs() -> None:
    assert options.pairs(["a=1", "b=", "c=x=y", "a=2"], "--tag") == {"a": "2", "b": "", "c": "x=y"}
    for text in ("a", "=1", ""):
        with pytest.raises(typer.BadParameter, match="is not KEY=VALUE"):
            options.pairs([text], "--tag")
