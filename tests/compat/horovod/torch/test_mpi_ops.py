"""The collectives of `horovod.torch` on four real ranks, against what the mathematics say."""

from __future__ import annotations

import pytest
from tests.support.horovod_gang import Gang

pytestmark = [pytest.mark.xdist_group("horovod"), pytest.mark.framework]


@pytest.mark.parametrize(
    "check",
    [
        "check_join_with_uneven_inputs",
        "check_allreduce_of_every_type_and_shape",
        "check_the_old_argument_for_averages",
        "check_in_place_and_not_contiguous",
        "check_names_may_come_in_any_order",
        "check_handles",
        "check_groups",
        "check_sparse",
        "check_gradients_flow_through",
        "check_disagreement_is_an_error_on_every_rank",
        "check_different_names_are_an_error_and_no_hang",
        "check_what_the_layer_cannot_do_is_refused_in_words",
    ],
)
def test_on_every_rank(torch_gang: Gang, check: str) -> None:
    torch_gang.passed(check)
