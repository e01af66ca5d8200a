"""Some of the ranks work among themselves, in each framework."""

from __future__ import annotations

import pytest
from tests.support.horovod_gang import Gang

from runyard.compat.horovod.common.exceptions import NotInitialized
from runyard.compat.horovod.core.process_sets import ProcessSet, add_process_set, global_process_set


@pytest.mark.framework
@pytest.mark.xdist_group("horovod")
@pytest.mark.parametrize("framework", ["torch", "tensorflow"])
def test_on_every_rank(request: pytest.FixtureRequest, framework: str) -> None:
    gang: Gang = request.getfixturevalue(f"{framework}_gang")
    gang.passed("check_process_sets")


def test_a_set_is_nothing_before_it_was_added() -> None:
    found = ProcessSet([2, 0])
    assert (found.ranks, found.rank(), found.size(), found.included()) == ([0, 2], None, None, None)
    assert str(found) == "process set of ranks 0 and 2"
    with pytest.raises(NotInitialized):
        add_process_set(found)
    assert global_process_set.process_set_id == 0
