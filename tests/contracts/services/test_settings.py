"""Settings of services: what is not given follows from the kind, and what cannot be is refused by its name."""

from __future__ import annotations

from typing import Any

import pytest

from runyard.contracts.services.settings import BadSettings, Settings, from_dict, of_kind


def test_what_is_not_given_is_as_the_kind_has_it() -> None:
    aci, aks = of_kind("aci"), of_kind("aks")
    assert (aci.authentication, aci.autoscale.enabled, aci.replicas) == ("none", False, 1)
    assert (aks.authentication, aks.autoscale.enabled, aks.autoscale.max, aks.queue_wait_ms) == ("key", True, 10, 500)
    assert from_dict({"cpu": None, "autoscale": {"min": None, "max": 3}}, aks).autoscale.max == 3
    assert not from_dict({"replicas": 2}, aks).autoscale.enabled, "a number of replicas ends the scaling by load"
    assert from_dict(aks.as_dict(), Settings()) == aks


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"cpus": 1}, "cpus"),
        ({"cpu": 0}, "cpu"),
        ({"cpu": "1"}, "cpu"),
        ({"replicas": True}, "replicas` is True: it must be a whole number"),
        ({"port": 70000}, "port"),
        ({"authentication": "password"}, "authentication"),
        ({"autoscale": {"min": 3, "max": 2}}, "autoscale"),
        ({"autoscale": {"maximum": 2}}, "autoscale.maximum`. `autoscale` has .*`max`"),
        ({"autoscale": {"enabled": 2}}, "true or false"),
        ({"batch": {"size": "many"}}, "a number"),
        ({"worker": 2}, "There is .*`workers`"),
        ({"autoscale": {"target_utilization": 0}}, "target_utilization"),
        ({"probes": {"period_seconds": 0}}, "probes.period_seconds"),
        ({"environment_variables": {"a": 1}}, "environment_variables"),
        ({"host": "0.0.0.0"}, "allow_unauthenticated"),
    ],
)
def test_what_cannot_be_is_named(given: dict[str, Any], named: str) -> None:
    with pytest.raises(BadSettings, match=named):
        from_dict(given, Settings())


def test_others_are_let_in_only_with_a_key_or_by_name() -> None:
    everywhere = "0.0.0.0"
    assert from_dict({"host": everywhere, "authentication": "key"}, Settings()).host == everywhere
    assert from_dict({"host": everywhere, "allow_unauthenticated": True}, Settings()).host == everywhere
