"""If these fail, nobody learns why a job waits, or how it ended."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.engines.slurm.conftest import program

from runyard.engines.slurm.commands import Commands
from runyard.engines.slurm.jobs import Job, ask, ask_by_name


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("Resources", "waits for nodes to become free (Resources)"),
        (
            "QOSMaxCpuPerUserLimit",
            "waits for a limit of its QOS: it starts when other jobs of yours end (QOSMaxCpuPerUserLimit)",
        ),
        ("MaxJobsPerAccount", "waits for a limit of its QOS: it starts when other jobs of the account end"),
        ("AssocGrpCPUMinutesLimit", "waits for a limit of its account: what may be used is used up"),
        ("AssocGrpCPURunMinutesLimit", "it starts when other jobs under that limit end"),
        ("AssocMaxWallDurationPerJobLimit", "lower max_run_duration_seconds"),
        ("QOSMinGRES", "a larger vm_size"),
        ("QOSMaxCpuPerNode", "take a smaller vm_size"),
        ("QOSNewLimit", "waits for a limit of its QOS (QOSNewLimit)"),
        ("QOSNotAllowed", "its partition does not allow: set the target's option `qos`"),
        ("ReqNodeNotAvail, UnavailableNodes:n1", "needs nodes that are down, drained or reserved"),
        ("JobHeldUser", "scontrol release 7"),
        ("SomethingNew", "waits (SomethingNew)"),
        ("None", "has not been looked at yet"),
    ],
)
def test_the_reason_for_waiting_is_said_in_words(reason: str, words: str) -> None:
    assert words in Job("7", "PENDING", reason=reason).why_waiting()


def test_an_end_is_explained() -> None:
    assert Job("7", "COMPLETED", nodes="n1").how_it_ended("python3") == "exit code 0, Slurm job 7"
    assert Job("7", "FAILED", status=9, nodes="n1").how_it_ended("python3") == "killed by SIGKILL, Slurm job 7 on n1"
    missing = Job("7", "FAILED", status=127 << 8).how_it_ended("/opt/python")
    assert "/opt/python was not found on the node" in missing
    assert "out of memory" in Job("7", "OUT_OF_MEMORY").how_it_ended("python3")


def test_only_what_the_cluster_did_counts_as_taken() -> None:
    assert [Job("7", state).taken for state in ("PREEMPTED", "NODE_FAIL", "CANCELLED", "TIMEOUT")] == [
        True,
        True,
        False,
        False,
    ]
    assert Job("7", "PENDING", restarts=1).requeued
    assert not Job("7", "PENDING").requeued


def test_squeue_is_read_with_reasons_that_hold_a_separator(tmp_path: Path, commands: Commands) -> None:
    program(tmp_path, "squeue", "echo ' 7 |PENDING|0|0||runyard-a|Nodes required|for job|'; echo 'nonsense'")
    assert ask(commands, ["7"]) == {"7": Job("7", "PENDING", name="runyard-a", reason="Nodes required|for job")}
    assert ask_by_name(commands, "runyard-a") == Job("7", "PENDING", name="runyard-a", reason="Nodes required|for job")
