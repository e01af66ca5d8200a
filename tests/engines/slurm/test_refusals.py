"""If these fail, somebody whose job is refused does not learn what to do."""

from __future__ import annotations

import pytest

from runyard.engines.slurm import refusals
from runyard.engines.slurm.options import Options


@pytest.mark.parametrize(
    ("words", "help", "always"),
    [
        ("Invalid account or account/partition combination specified.", "sacctmgr show associations", True),
        ("Invalid qos specification.", "`qos`", True),
        ("Requested time limit is invalid (missing or exceeds some limit).", "max_run_duration_seconds", False),
        ("Requested node configuration is not available.", "smaller vm_size", False),
        (
            "QOSMaxWallDurationPerJobLimit. Job violates accounting/QOS policy (job submit limit, user's size and/or "
            "time limits).",
            "limits). Lower max_run_duration_seconds",
            False,
        ),
        (
            "AssocMaxNodePerJobLimit. Job violates accounting/QOS policy (job submit limit, user's size and/or time "
            "limits).",
            "limits). Ask for fewer nodes",
            False,
        ),
        ("Job violates accounting/QOS policy.", "policy. Ask for less time or fewer nodes.", False),
        ("Something new.", "Check the options", False),
    ],
)
def test_a_refusal_comes_with_a_way_out(words: str, help: str, always: bool) -> None:
    said = refusals.explain(words, Options(), {})
    assert words in said
    assert help in said
    assert refusals.for_good(words) == always
