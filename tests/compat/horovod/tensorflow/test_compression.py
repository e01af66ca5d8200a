"""Half precision on the way comes back in full."""

from __future__ import annotations

import pytest
from tests.support.horovod_gang import Gang

pytestmark = [pytest.mark.xdist_group("horovod"), pytest.mark.framework]


def test_groups_and_slices(tensorflow_gang: Gang) -> None:
    tensorflow_gang.passed("check_groups_and_slices")
