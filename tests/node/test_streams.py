"""The names of a run's logs on the node: one process has the plain name, each of many its own."""

from __future__ import annotations

import pytest

from runyard.contracts.distribution import MPI, PYTORCH, Distribution
from runyard.node.streams import std_log


def test_the_only_process_of_a_run() -> None:
    assert std_log(Distribution(), 0) == "std_log.txt"


@pytest.mark.parametrize(
    "many", [Distribution(nodes=2), Distribution(processes=2), Distribution(MPI), Distribution(PYTORCH)]
)
def test_a_process_of_a_run_that_may_have_many(many: Distribution) -> None:
    assert std_log(many, 3) == "std_log_process_3.txt"
