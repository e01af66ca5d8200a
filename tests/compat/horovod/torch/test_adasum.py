"""Adasum on four real ranks, against its formula."""

from __future__ import annotations

import pytest
from tests.support.horovod_gang import Gang

pytestmark = [pytest.mark.xdist_group("horovod"), pytest.mark.framework]


@pytest.mark.parametrize(
    "check",
    [
        "check_adasum",
        "check_adasum_of_every_type_and_odd_sizes",
    ],
)
def test_on_every_rank(torch_gang: Gang, check: str) -> None:
    torch_gang.passed(check)
