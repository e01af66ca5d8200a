"""`model.fit` with Horovod's optimizer and callbacks gives what one process gives."""

from __future__ import annotations

import pytest
from tests.support.horovod_gang import Gang

pytestmark = [pytest.mark.xdist_group("horovod"), pytest.mark.framework]


@pytest.mark.parametrize(
    "check",
    [
        "check_fit_of_keras",
        "check_fit_of_tensorflows_keras",
        "check_warm_up_and_schedule",
        "check_a_saved_model_goes_on_without_horovod_and_with_it",
    ],
)
def test_on_every_rank(tensorflow_gang: Gang, check: str) -> None:
    tensorflow_gang.passed(check)
