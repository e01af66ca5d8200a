"""Every type and shape arrives whole over the ring."""

from __future__ import annotations

import pytest
from tests.support.horovod_gang import Gang

pytestmark = [pytest.mark.xdist_group("horovod"), pytest.mark.framework]


@pytest.mark.parametrize(
    "check",
    [
        "check_allreduce_of_every_type_and_shape",
        "check_gather_broadcast_and_alltoall_of_every_type",
        "check_reducescatter_of_every_type",
        "check_adasum",
    ],
)
def test_on_every_rank(tensorflow_gang: Gang, check: str) -> None:
    tensorflow_gang.passed(check)
