"""The example of a distributed job makes its cluster by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.examples.conftest import Reader

pytestmark = pytest.mark.xdist_group("gangs-local")


def test_the_plain_example_makes_its_cluster_and_runs_on_two_nodes(reader: Reader) -> None:
    said = reader.starts("examples/distributed/submit.py", "plain")
    assert "Execution Summary" in said
    for rank in range(4):
        assert f"best score of rank {rank}: 0." in said
        assert f"outputs/best_of_rank_{rank}.txt" in said
        assert f"user_logs/std_log_process_{rank}.txt" in said
