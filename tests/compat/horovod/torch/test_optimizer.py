"""Training on 2 x 2 ranks gives the weights of one process with the whole batch."""

from __future__ import annotations

import pytest
from tests.support.horovod_gang import Gang

pytestmark = [pytest.mark.xdist_group("horovod"), pytest.mark.framework]


@pytest.mark.parametrize(
    "check",
    [
        "check_training_equals_one_process",
        "check_gradients_may_be_summed",
        "check_clipping_between_synchronize_and_step",
        "check_a_parameter_that_only_some_ranks_reach",
        "check_misuse_of_the_optimizer_is_told",
        "check_embeddings_with_sparse_gradients",
        "check_learning_rate_schedules_and_state",
    ],
)
def test_on_every_rank(torch_gang: Gang, check: str) -> None:
    torch_gang.passed(check)
