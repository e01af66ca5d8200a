"""A state of variables is the same on all ranks, and can be gone back to."""

from __future__ import annotations

import pytest
from tests.support.horovod_gang import Gang

pytestmark = [pytest.mark.xdist_group("horovod"), pytest.mark.framework]


def test_elastic_state(tensorflow_gang: Gang) -> None:
    tensorflow_gang.passed("check_elastic_state")
