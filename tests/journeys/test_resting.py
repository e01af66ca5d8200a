"""If this fails, each short run pays for a process of its own again, or meets what the run before it has left."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from tests.journeys.conftest import Yard

RUNS = 8
SCRIPT = """
import json, os
told = {"runner": os.getppid(), "folder": os.getcwd(), "cookie": os.environ["RUNYARD_COOKIE"], "found": os.listdir()}
print(json.dumps(told))
"""


def told_by(yard: Yard) -> dict[str, Any]:
    run = yard.submit(SCRIPT)
    run.wait_for_completion()
    told: dict[str, Any] = json.loads(run.get_details_with_logs()["logFiles"]["user_logs/std_log.txt"])
    assert run.id in told["folder"]
    return told


@pytest.mark.skipif(sys.platform != "linux", reason="runners rest on Linux alone")
def test_a_runner_takes_up_run_after_run_and_each_is_the_first_of_its_own(shared_yard: Yard) -> None:
    told = [told_by(shared_yard) for _ in range(RUNS)]
    assert len({each["runner"] for each in told}) < RUNS
    assert len({each["cookie"] for each in told}) == RUNS
    assert {tuple(sorted(each["found"])) for each in told} == {("logs", "outputs", "train.py")}
