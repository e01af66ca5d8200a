"""What a state commits is written down where a restarted run finds it."""

from __future__ import annotations

import pytest
from tests.support.horovod_gang import Gang

pytestmark = [pytest.mark.xdist_group("horovod"), pytest.mark.framework]


def test_elastic_state(torch_gang: Gang) -> None:
    torch_gang.passed("check_elastic_state")
