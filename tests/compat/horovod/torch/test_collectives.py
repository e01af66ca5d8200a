"""Every type and shape arrives whole, whatever the backend can move by itself."""

from __future__ import annotations

import pytest
from tests.support.horovod_gang import Gang

pytestmark = [pytest.mark.xdist_group("horovod"), pytest.mark.framework]


@pytest.mark.parametrize(
    "check",
    [
        "check_scaling_before_and_after",
        "check_allgather_of_every_type_with_different_rows",
        "check_broadcast_of_every_type_and_shape",
    ],
)
def test_on_every_rank(torch_gang: Gang, check: str) -> None:
    torch_gang.passed(check)
