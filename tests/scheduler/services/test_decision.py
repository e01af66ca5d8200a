"""What is to be done for a service, for each state that it can be found in."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone
from typing import Any

from runyard.contracts import states as run_states
from runyard.contracts.services import states
from runyard.contracts.services.settings import Autoscale, Settings
from runyard.scheduler.services.decision import Start, decide, stopped
from runyard.scheduler.services.replicas import routes
from runyard.store.assets.services import Replica, Revision, Service, Version, begun

NOW = datetime(2026, 1, 1, tzinfo=timezone.utc)


def revision(number: int, version: str = "", state: str = states.NEW, **settings: Any) -> Revision:
    return Revision(number, version, [], {}, Settings(**settings), None, state, None, NOW)


def version(current: int | None, wanted: int, replicas: int = 1, name: str = "", **more: Any) -> Version:
    return Version(name, current, wanted, replicas, more.get("traffic", 100.0), more.get("default", True), False)


def replica(number: int, state: str = states.READY, status: str = "Running", **more: Any) -> Replica:
    named = {"run_id": f"run-{number}-{state}", "version": "", "role": states.WORKER, "error": None, **more}
    return Replica(status=status, reason=None, revision=number, state=state, seen=more.get("seen", {}), created_at=NOW,
                   **{key: value for key, value in named.items() if key != "seen"})  # fmt: skip


def service(*versions: Version, running: bool = True, kind: str = "aci", **settings: Any) -> Service:
    operation = begun("create") if running else {**begun("create"), "state": states.SUCCEEDED}
    return Service(1, "id", "ws", "mine", kind, states.TRANSITIONING, None, operation, Settings(**settings), 1, {}, {},
                   {}, None, None, NOW, NOW, list(versions))  # fmt: skip


def test_a_new_service_is_brought_up_and_serves_when_all_are_ready() -> None:
    new, known = service(version(None, 1, 2)), {1: revision(1)}
    made = decide(new, known, [])
    assert made.start == [Start("", 1), Start("", 1)]
    assert (made.state, made.finished) == (states.TRANSITIONING, False)
    one = [replica(1, run_id="a"), replica(1, states.STARTING, run_id="b")]
    assert not decide(new, known, one).promote
    made = decide(new, known, [replica(1, run_id="a"), replica(1, run_id="b")])
    assert (made.promote, made.finished, made.state) == ({"": 1}, True, states.HEALTHY)


def test_one_that_cannot_start_has_failed_with_its_cause() -> None:
    new, known = service(version(None, 1)), {1: revision(1)}
    sick = replica(1, states.SICK, seen={"error": {"message": "no"}})
    assert (decide(new, known, [sick]).state, decide(new, known, [sick]).error) == (states.UNHEALTHY, {"message": "no"})
    made = decide(new, known, [replica(1, states.SICK, "Failed", error={"message": "init"})])
    assert made.refuse == {"": (1, {"message": "init"})}
    assert (made.state, made.error, made.start) == (states.FAILED, {"message": "init"}, [])
    again = replace(new, state=states.FAILED, error={"message": "init"})
    after = decide(again, {1: revision(1, state=states.REFUSED)}, [replica(1, states.GONE, "Failed")])
    assert (after.state, after.error, after.start) == (states.FAILED, {"message": "init"}, [])


def test_an_update_leaves_the_old_revision_alone_until_the_new_one_is_ready() -> None:
    changing, known = service(version(1, 2)), {1: revision(1, state=states.CURRENT), 2: revision(2)}
    made = decide(changing, known, [replica(1)])
    assert (made.start, made.stop) == ([Start("", 2)], {})
    made = decide(changing, known, [replica(1), replica(2, states.STARTING)])
    assert (made.start, made.stop, made.state) == ([], {}, states.TRANSITIONING)
    made = decide(changing, known, [replica(1, run_id="old"), replica(2)])
    assert (made.promote, list(made.stop)) == ({"": 2}, ["old"])
    assert not made.finished, "the old one may be the next to answer"
    changed = service(version(2, 2))
    leaving = replica(1, states.DRAINING, run_states.CANCEL_REQUESTED)
    assert not decide(changed, known, [replica(1, status=run_states.CANCEL_REQUESTED), replica(2)]).finished
    assert decide(changed, known, [leaving, replica(2)]).finished


def test_an_update_that_does_not_come_up_is_given_up_and_the_old_one_serves() -> None:
    changing, known = service(version(1, 2, 2)), {1: revision(1, state=states.CURRENT), 2: revision(2)}
    found = [replica(1, run_id="a"), replica(1, run_id="b"), replica(2, states.STARTING, run_id="c")]
    made = decide(changing, known, [*found, replica(2, states.STARTING, "Failed", run_id="d", error={"message": "x"})])
    assert made.refuse == {"": (2, {"message": "x"})}
    assert (list(made.stop), made.start, made.state) == (["c"], [], states.HEALTHY)


def test_replicas_that_are_lost_are_replaced_and_too_many_are_stopped() -> None:
    steady, known = service(version(1, 1, 2), running=False), {1: revision(1, state=states.CURRENT)}
    made = decide(steady, known, [replica(1), replica(1, states.READY, "Failed", run_id="lost")])
    assert (made.start, made.state) == ([Start("", 1)], states.HEALTHY)
    four = [replica(1, run_id="a"), replica(1, states.SICK, run_id="b"), replica(1, run_id="c"), replica(1, run_id="d")]
    assert set(decide(steady, known, four).stop) == {"b", "d"}
    draining = replica(1, status="CancelRequested", run_id="draining")
    assert decide(steady, known, [replica(1, run_id="a"), draining]).start == [Start("", 1)]
    assert decide(steady, known, []).state == states.UNHEALTHY


def test_a_service_that_may_have_none_has_a_gateway() -> None:
    scale = Autoscale(enabled=True, min=0)
    asleep, known = service(version(1, 1, 0), running=False, autoscale=scale), {1: revision(1, autoscale=scale)}
    assert decide(asleep, known, []).start == [Start("", 1, states.GATEWAY)]
    made = decide(asleep, known, [replica(1, role=states.GATEWAY)])
    assert (made.start, made.state) == ([], states.HEALTHY)
    woken = service(version(1, 1, 1), running=False, autoscale=scale)
    made = decide(woken, known, [replica(1, role=states.GATEWAY)])
    assert (made.start, made.state) == ([Start("", 1)], states.HEALTHY)
    plain = service(version(1, 1, 1), running=False)
    made = decide(plain, {1: revision(1)}, [replica(1), replica(1, role=states.GATEWAY, run_id="gateway")])
    assert list(made.stop) == ["gateway"]


def test_what_shares_leave_of_a_hundred_goes_to_the_default_version() -> None:
    blue, green = version(1, 1, name="blue", traffic=20.0), version(2, 2, name="green", traffic=10.0, default=False)
    endpoint = service(blue, green, kind="endpoint")
    ready = replica(2, version="green", seen={"port": 7})
    found = {each.version: (each.share, each.port) for each in routes(endpoint, [ready]).routes}
    assert found == {"blue": (90.0, 0), "green": (10.0, 7)}


def test_a_removed_version_and_a_removed_service_are_stopped() -> None:
    known = {1: revision(1, "blue"), 2: revision(2, "green")}
    endpoint = service(version(1, 1, name="blue"), running=False, kind="endpoint")
    gateway = replica(1, role=states.GATEWAY, run_id="gateway")
    made = decide(endpoint, known, [replica(1, version="blue"), replica(2, version="green", run_id="left"), gateway])
    assert list(made.stop) == ["left"]
    removed = replace(endpoint, state=states.DELETING)
    made = decide(removed, known, [gateway])
    assert (list(made.stop), made.gone) == (["gateway"], False)
    assert decide(removed, known, [replace(gateway, status="Canceled")]).gone
    assert list(stopped([gateway, replace(gateway, status="Canceled")]).stop) == ["gateway"]
