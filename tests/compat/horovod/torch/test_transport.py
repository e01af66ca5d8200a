"""The layer has process groups of its own, beside those of the script."""

from __future__ import annotations

import pytest
from tests.support.horovod_gang import Gang

pytestmark = [pytest.mark.xdist_group("horovod"), pytest.mark.framework]


@pytest.mark.parametrize(
    "check",
    [
        "check_process_sets",
        "check_the_default_group_is_the_scripts_own",
    ],
)
def test_on_every_rank(torch_gang: Gang, check: str) -> None:
    torch_gang.passed(check)
