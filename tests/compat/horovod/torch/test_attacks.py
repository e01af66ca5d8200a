"""What goes wrong in real jobs of torch, and what scripts do beside training."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from tests.support import horovod_gang
from tests.support.frameworks import environment

SCRIPT = Path(horovod_gang.__file__).with_name("horovod_attacks.py")

pytestmark = [pytest.mark.xdist_group("horovod"), pytest.mark.framework]


def test_a_rank_that_is_killed_in_the_middle_of_an_allreduce_is_named(tmp_path: Path) -> None:
    story = "killed_in_the_middle_of_an_allreduce"
    gang = horovod_gang.start(environment("torch"), SCRIPT, tmp_path, size=3, STORY=story)
    assert gang.codes == [3, 3, -signal.SIGKILL]
    for rank in range(2):
        assert "Rank 2 has ended" in gang.outputs[rank]
        assert "allreduce.large" in gang.outputs[rank]


def test_late_ranks_many_tensors_and_workers_that_fork_and_spawn(tmp_path: Path) -> None:
    story = "lives_through_what_scripts_do"
    gang = horovod_gang.start(
        environment("torch"), SCRIPT, tmp_path, size=2, STORY=story, STORY_BYTES=str(64 << 20), STORY_LATE="3"
    )
    assert gang.codes == [0, 0], gang.outputs
