"""What is told of the progress of an operation: each step once."""

from __future__ import annotations

from tests.scheduler.services.test_decision import replica, service, version

from runyard.contracts.services import states
from runyard.scheduler.services.decision import Decision, Start
from runyard.scheduler.services.services import _steps


def test_steps_name_what_is_started_and_what_goes_wrong() -> None:
    sick = replica(1, states.SICK, seen={"error": {"message": "init failed\nmore"}})
    made = Decision(start=[Start("", 1), Start("", 1, states.GATEWAY)], promote={"": 1})
    told = _steps(service(version(None, 1)), [], made)
    assert told == ["Starting a replica of revision 1", "Starting a gateway", "Revision 1 serves now"]
    assert _steps(service(version(1, 1), running=False), [sick], made) == []
