"""If these fail, nobody learns what a run on a Ray cluster waits for."""

from __future__ import annotations

from typing import Any

from runyard.engines.ray.reasons import first_line, why_it_waits


def spec(nodes: int, grows: bool = False) -> dict[str, Any]:
    return {"nodes": nodes, "bundle": {"CPU": 4.0}, "wish": f"{nodes} nodes with 4 CPUs", "grows": grows}


def node(free: float, leaving: bool = False) -> dict[str, Any]:
    return {"has": {"CPU": 8.0}, "free": {"CPU": free}, "leaving": leaving}


def test_a_cluster_that_is_busy() -> None:
    assert why_it_waits(spec(2), [node(8.0), node(0.0)], holders=1, before=2) == (
        "waits for 2 nodes with 4 CPUs; the cluster has 2 such nodes, of which 1 is free; "
        "1 run of this server is there; 2 wait before it"
    )
    assert "of which none is free" in why_it_waits(spec(1), [node(0.0)], holders=0, before=0)


def test_a_cluster_that_is_too_small() -> None:
    leaving = [node(8.0), node(8.0, leaving=True)]
    assert why_it_waits(spec(2), leaving, 0, 0).endswith("the cluster has 1 such node, so it must grow first")
    assert why_it_waits(spec(2, grows=True), leaving, 0, 0).endswith("1 such node and is asked to grow")
    assert "its autoscaler cannot add them" in why_it_waits(spec(2, grows=True), [], 0, 0, hopeless=True)


def test_an_error_is_told_by_its_first_line() -> None:
    assert first_line(RuntimeError("\n  The node died.\n  Traceback ...")) == "The node died"
    assert first_line(RuntimeError()) == "RuntimeError"
