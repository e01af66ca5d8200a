"""Training on shares gives the weights of one process with the whole batch, in every style of TensorFlow."""

from __future__ import annotations

import pytest
from tests.support.horovod_gang import Gang

pytestmark = [pytest.mark.xdist_group("horovod"), pytest.mark.framework]


@pytest.mark.parametrize(
    "check",
    [
        "check_groups_and_slices",
        "check_the_tape_trains_as_one_process",
        "check_graphs_of_tensorflow_1",
        "check_fit_of_legacy_keras",
        "check_what_the_layer_cannot_do_is_refused_in_words",
    ],
)
def test_on_every_rank(tensorflow_gang: Gang, check: str) -> None:
    tensorflow_gang.passed(check)
