"""What a node runner is told of a service survives being written down."""

from __future__ import annotations

import json

from runyard.contracts.services.plan import Route, Routes, ServicePlan
from runyard.contracts.services.settings import Autoscale, Settings


def test_a_plan_is_the_same_when_it_was_written_and_read() -> None:
    settings = Settings(host="0.0.0.0", authentication="key", autoscale=Autoscale(enabled=True, min=0))
    plan = ServicePlan("mine", "/f", "/f/listener", 3, "127.0.0.1", 0, settings, version="blue", models=[{"id": "m:1"}])
    assert ServicePlan.from_dict(json.loads(json.dumps(plan.as_dict()))) == plan
    routes = Routes([Route("blue", 30.0, port=8), Route("green", 70.0)])
    assert Routes.from_dict(json.loads(json.dumps(routes.as_dict()))) == routes
