"""Replicas by load: up at once, down only when fewer have sufficed for a while."""

from __future__ import annotations

from runyard.contracts.services.settings import Autoscale
from runyard.scheduler.services.scaling import Load, Scaler, needed

SCALE = Autoscale(enabled=True, min=0, max=5, target_utilization=70, down_seconds=60)


def test_it_grows_at_once_and_shrinks_after_a_while() -> None:
    scaler = Scaler(1, now=0.0)
    assert scaler.replicas(Load(busy=2.0), 1, SCALE, now=1.0) == 3
    assert scaler.replicas(Load(), 1, SCALE, now=30.0) == 3
    assert scaler.replicas(Load(busy=0.5), 1, SCALE, now=62.0) == 1
    assert scaler.replicas(Load(), 1, SCALE, now=121.0) == 1
    assert scaler.replicas(Load(), 1, SCALE, now=125.0) == 0


def test_a_load_is_divided_by_the_places_of_a_replica() -> None:
    assert needed(Load(busy=5.6), 4, SCALE) == 2
    assert needed(Load(busy=100.0), 4, SCALE) == 5
    assert needed(Load(waiting=1.0), 4, SCALE) == 1
