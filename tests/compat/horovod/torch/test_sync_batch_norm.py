"""Batch normalization over all ranks is that of the whole batch, backwards too."""

from __future__ import annotations

import pytest
from tests.support.horovod_gang import Gang

pytestmark = [pytest.mark.xdist_group("horovod"), pytest.mark.framework]


def test_batch_norm_over_all_ranks(torch_gang: Gang) -> None:
    torch_gang.passed("check_batch_norm_over_all_ranks")
