"""Every rank makes its own step, and the steps are combined by Adasum's formula."""

from __future__ import annotations

import pytest
from tests.support.horovod_gang import Gang

pytestmark = [pytest.mark.xdist_group("horovod"), pytest.mark.framework]


@pytest.mark.parametrize(
    "check",
    [
        "check_adasum_in_an_optimizer",
    ],
)
def test_on_every_rank(torch_gang: Gang, check: str) -> None:
    torch_gang.passed(check)
