"""The collectives of `horovod.tensorflow` on real ranks, eager, in functions and through gradients."""

from __future__ import annotations

import pytest
from tests.support.horovod_gang import Gang

pytestmark = [pytest.mark.xdist_group("horovod"), pytest.mark.framework]


@pytest.mark.parametrize(
    "check",
    [
        "check_every_name_is_there",
        "check_who_is_who",
        "check_functions_and_graphs",
        "check_gradients_flow_through",
        "check_join_with_uneven_inputs",
        "check_disagreement_is_an_error_on_every_rank",
    ],
)
def test_on_every_rank(tensorflow_gang: Gang, check: str) -> None:
    tensorflow_gang.passed(check)
