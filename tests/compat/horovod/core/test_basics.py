"""Who is which rank, and leaving and entering again."""

from __future__ import annotations

import pytest
from tests.support.horovod_gang import Gang

pytestmark = [pytest.mark.xdist_group("horovod"), pytest.mark.framework]


@pytest.mark.parametrize(
    "check",
    [
        "check_every_name_is_there",
        "check_who_is_who",
        "check_it_can_be_left_and_entered_again",
        "check_join_with_uneven_inputs",
    ],
)
def test_on_every_rank(torch_gang: Gang, check: str) -> None:
    torch_gang.passed(check)
