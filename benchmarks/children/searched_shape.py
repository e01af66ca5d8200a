"""What runs have that are searched by MLflow's client, in the databases of both servers."""

from __future__ import annotations

METRIC, PARAMETER = "acc", "lr"


def metric(number: int, runs: int) -> float:
    """All different, and in no order."""
    return number * 7919 % runs / runs


def parameter(number: int) -> str:
    return str(number % 2)
