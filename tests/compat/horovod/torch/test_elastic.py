"""A state is the same on all ranks, and a run that was started again goes on from it."""

from __future__ import annotations

import pytest
from tests.support.horovod_gang import Gang

pytestmark = [pytest.mark.xdist_group("horovod"), pytest.mark.framework]


def test_elastic_state(torch_gang: Gang) -> None:
    torch_gang.passed("check_elastic_state")
