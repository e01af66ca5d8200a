"""Both modules of Keras have all names that they list."""

from __future__ import annotations

import pytest
from tests.support.horovod_gang import Gang

pytestmark = [pytest.mark.xdist_group("horovod"), pytest.mark.framework]


@pytest.mark.parametrize(
    "check",
    [
        "check_every_name_is_there",
    ],
)
def test_on_every_rank(tensorflow_gang: Gang, check: str) -> None:
    tensorflow_gang.passed(check)
