"""Calls of TensorFlow that return at once with a handle."""

from __future__ import annotations

import pytest
from tests.support.horovod_gang import Gang

pytestmark = [pytest.mark.xdist_group("horovod"), pytest.mark.framework]


@pytest.mark.parametrize(
    "check",
    [
        "check_calls_that_return_at_once",
    ],
)
def test_on_every_rank(tensorflow_gang: Gang, check: str) -> None:
    tensorflow_gang.passed(check)
