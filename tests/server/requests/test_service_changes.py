"""How many replicas a service begins with."""

from __future__ import annotations

from runyard.contracts.services.settings import Autoscale, Settings
from runyard.server.requests.service_changes import replicas_of


def test_the_minimum_of_the_scaling_or_the_number_that_was_asked_for() -> None:
    assert replicas_of(Settings(replicas=3)) == 3
    assert replicas_of(Settings(replicas=3, autoscale=Autoscale(enabled=True, min=2))) == 2
    assert replicas_of(Settings(autoscale=Autoscale(enabled=True, min=0))) == 1, "it is seen to work once"
