"""Each set of ranks has a ring of its own."""

from __future__ import annotations

import pytest
from tests.support.horovod_gang import Gang

pytestmark = [pytest.mark.xdist_group("horovod"), pytest.mark.framework]


@pytest.mark.parametrize(
    "check",
    [
        "check_process_sets",
    ],
)
def test_on_every_rank(tensorflow_gang: Gang, check: str) -> None:
    tensorflow_gang.passed(check)
