"""If these fail, somebody whose job has come to a limit of the site gets wrong advice, or none."""

from __future__ import annotations

import pytest

from runyard.engines.slurm import limits

REFUSAL = "{code}. Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)."


@pytest.mark.parametrize(
    ("code", "help"),
    [
        ("QOSMaxSubmitJobPerUserLimit", "it can be submitted when other jobs end"),
        ("AssocMaxWallDurationPerJobLimit", "lower max_run_duration_seconds"),
        ("QOSMaxNodePerJobLimit", "ask for fewer nodes"),
        ("QOSMinCpuNotSatisfied", "ask for more nodes"),
        ("AssocMaxJobsLimit", "other jobs of yours"),
        ("AssocGrpCPUMinutesLimit", "ask your administrators"),
        ("QOSGrpNodeLimit", "under that limit"),
        ("QOSMaxSomethingNew", ""),
    ],
)
def test_a_limit_has_a_way_out(code: str, help: str) -> None:
    assert limits.codes(REFUSAL.format(code=code)) == [code]
    assert help in limits.way_out(code)
    assert bool(limits.way_out(code)) == bool(help)


def test_a_limit_of_submitting_is_one_that_passes() -> None:
    assert limits.of_submitting(REFUSAL.format(code="AssocGrpSubmitJobsLimit"))
    assert not limits.of_submitting(REFUSAL.format(code="QOSMaxNodePerJobLimit"))
    assert not limits.of_submitting("Invalid account.")
