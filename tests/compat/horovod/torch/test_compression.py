"""Half precision on the way gives the same training within its tolerance."""

from __future__ import annotations

import pytest
from tests.support.horovod_gang import Gang

pytestmark = [pytest.mark.xdist_group("horovod"), pytest.mark.framework]


def test_training_equals_one_process(torch_gang: Gang) -> None:
    torch_gang.passed("check_training_equals_one_process")
