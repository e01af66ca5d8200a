"""If these fail, the end of a job that Slurm has forgotten is not noticed, or not explained."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.engines.conftest import Listener
from tests.engines.slurm.conftest import program
from tests.support.waiting import wait_until

from runyard.engines.slurm import poll as slurm_poll
from runyard.engines.slurm.commands import Commands
from runyard.engines.slurm.jobs import ask, ask_history
from runyard.engines.slurm.poll import Poll

DEADLINE = 60.0


def test_an_end_that_squeue_forgot_is_read_from_a_stand_in_for_the_accounting(
    tmp_path: Path, commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slurm_poll, "HISTORY_WITHIN", 1.0)  # for the one that is said to run until then
    program(tmp_path, "squeue", "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1")
    program(
        tmp_path,
        "sacct",
        "echo '7|PREEMPTED|0:15|n[1-2]|runyard-run-7'; echo '8|CANCELLED by 0|0:0|None assigned|runyard-run-8'; "
        "echo '9|FAILED|75:0|n1|runyard-run-9'; echo '10|RUNNING|0:0|n1|runyard-run-10'",
    )
    assert ask(commands, ["7"]) == {}
    assert ask_history(commands, ["7"])["9"].status == 75 << 8
    events, poll = Listener(), Poll(commands, "python3")
    for number in (7, 8, 9, 10):
        poll.add(str(number), f"runyard-run-{number}", f"run-{number}", events)
    told = {events.gone_runs.get(timeout=DEADLINE) for _ in range(4)}
    poll.close()
    assert told == {
        ("run-7", "preempted, Slurm job 7 on n[1-2]", True),
        ("run-8", "cancelled, Slurm job 8", False),
        ("run-9", "exit code 75, Slurm job 9 on n1", False),
        ("run-10", "Slurm does not know job 10 any more", False),
    }


def test_a_job_is_reported_from_the_queue_to_its_end_by_a_stand_in_for_squeue(
    tmp_path: Path, commands: Commands
) -> None:
    answer, cancelled = tmp_path / "answer", tmp_path / "cancelled"
    program(tmp_path, "squeue", f"cat {answer}")
    program(tmp_path, "scancel", f'echo "$@" >>{cancelled}')

    def report(state: str, reason: str = "None") -> None:
        (tmp_path / "next").write_text(f"7|{state}|0|0|n1|runyard-run-7|{reason}|\n")
        (tmp_path / "next").rename(answer)

    report("PENDING", "Resources")
    events, poll = Listener(), Poll(commands, "python3")
    poll.add("7", "runyard-run-7", "run-7", events)
    try:
        waited = ("waits", "run-7", "Slurm: job 7 waits for nodes to become free (Resources)")
        wait_until(lambda: events.said == [waited], seconds=DEADLINE)
        report("RUNNING")
        wait_until(lambda: events.said == [waited, ("placed", "run-7")], seconds=DEADLINE)
        assert poll.nodes() == {"run-7": "n1"}
        poll.stop("7")
        wait_until(lambda: cancelled.exists() and "--batch --signal=TERM 7" in cancelled.read_text(), seconds=DEADLINE)
        report("COMPLETED")
        assert events.gone_runs.get(timeout=DEADLINE) == ("run-7", "exit code 0, Slurm job 7", False)
        assert poll.nodes() == {}
    finally:
        poll.close()
