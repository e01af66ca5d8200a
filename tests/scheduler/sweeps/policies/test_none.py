"""Without a policy every trial runs to its end."""

from __future__ import annotations

from array import array

from runyard.scheduler.sweeps.policies.none import NoTermination
from runyard.scheduler.sweeps.trials import Trial


def test_nobody_is_stopped() -> None:
    bad, good = Trial(0, "a", {}, True, array("d", [0.0])), Trial(1, "b", {}, True, array("d", [1.0]))
    assert NoTermination({}, True).judge(bad, 1, [good]) is None
