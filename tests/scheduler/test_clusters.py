"""If these fail, a run on a cluster that fails, hangs or takes its nodes away is lost, or another run with it.

The clusters here are fakes: no real one takes nodes away, or stops answering, on command.
"""

from __future__ import annotations

import threading

import pytest
from tests.scheduler.conftest import FakeCluster, Yard, wait

from runyard.contracts import states as names
from runyard.contracts.compute import IDLE, RUNNING, Target
from runyard.scheduler import states
from runyard.scheduler.states import Fact
from runyard.store.assets import compute
from runyard.store.content import files
from runyard.store.errors import Conflict
from runyard.store.runs import runs
from runyard.store.runs.runs import SCRIPT, NewRun, Run

STARTED = Fact(states.STARTED)
STOPPED = Fact(states.ENDED, outcome="failed", stopped=True, error={"code": "Canceled", "message": "stopped"})


def running(yard: Yard, cluster: FakeCluster, run_id: str) -> None:
    wait(lambda: run_id in cluster.alive, f"for {run_id} to be started")
    yard.reach(run_id, names.PROVISIONING)
    assert cluster.events is not None
    cluster.events.placed(run_id)
    yard.reach(run_id, names.PREPARING)
    yard.scheduler.report(run_id, STARTED)


def test_a_cluster_is_told_of_every_node_and_its_reasons_are_shown(yard: Yard) -> None:
    yard.start()
    run_id, cluster = yard.submit("hpc", nodes=3), yard.clusters["hpc"]
    yard.reach(run_id, names.PROVISIONING)
    assert cluster.events is not None
    cluster.events.waits(run_id, "Priority: 3 jobs are before it")
    wait(lambda: yard.run(run_id).reason == "Priority: 3 jobs are before it")
    (plans,) = cluster.gangs
    assert [plan.node for plan in plans] == [0, 1, 2]
    assert len({plan.link for plan in plans}) == 1
    assert len(plans[0].link) == 32
    assert (plans[0].target_type, plans[0].attempt) == ("Slurm", 1)
    assert yard.scheduler.holders("local", "hpc") == [run_id]
    assert yard.scheduler.most_nodes("local", yard.targets[0]) == 8
    status = yard.scheduler.status("local", yard.targets[0])
    assert (status.current_nodes, status.counts[IDLE], status.counts[RUNNING]) == (2, 1, 1)


def test_a_cluster_that_does_not_answer_is_waited_for_and_nothing_else_waits_with_it(yard: Yard) -> None:
    yard.start()
    cluster = yard.clusters["hpc"]
    cluster.away = "slurmctld does not answer."
    first, second = yard.submit("hpc"), yard.submit("hpc")
    for run_id in (first, second):
        waiting = yard.reach(run_id, names.QUEUED)
        assert waiting.reason == "waits for hpc to answer: slurmctld does not answer."
    status = yard.scheduler.status("local", yard.targets[0])
    assert status.errors == [{"code": "EngineAway", "message": "slurmctld does not answer."}]
    yard.reach(yard.submit("ray"), names.PROVISIONING)
    with yard.store.database.read() as connection:
        told = [change.reason for change in runs.states(connection, first)]
    assert len(told) == len(set(told)), "what has not changed is not told again"
    cluster.away = None
    for run_id in (first, second):
        yard.reach(run_id, names.PROVISIONING)
    assert cluster.attempts_of(first) == [1]


def test_a_cluster_without_a_queue_is_handed_one_waiting_gang_at_a_time(yard: Yard) -> None:
    yard.start()
    cluster = yard.clusters["ray"]
    first, second = yard.submit("ray", nodes=5), yard.submit("ray", nodes=1)
    yard.reach(first, names.PROVISIONING)
    assert (
        yard.reach(second, names.QUEUED).reason
        == f"waits until run {first}, which came before it, has its nodes on ray"
    )
    assert cluster.events is not None
    cluster.events.placed(first)
    yard.reach(second, names.PROVISIONING)


def test_an_engine_that_is_missing_fails_its_own_runs_and_no_others(yard: Yard) -> None:
    yard.start()
    failed = yard.reach(yard.submit("broken"), names.FAILED)
    assert failed.error == {"code": "EngineError", "message": "The engine of broken is not installed."}
    yard.reach(yard.submit("hpc"), names.PROVISIONING)


def test_a_cluster_that_hangs_delays_neither_the_start_nor_the_runs_of_others(yard: Yard) -> None:
    yard.start()
    run_id = yard.submit("hpc")
    yard.reach(run_id, names.PROVISIONING)
    cluster = yard.clusters["hpc"]
    cluster.hangs = threading.Event()
    try:
        yard.restart()
        yard.reach(yard.submit("ray"), names.PROVISIONING)
    finally:
        cluster.hangs.set()
    cluster.hangs = None
    running_on = cluster.alive
    assert running_on == {run_id}
    yard.scheduler.cancel(run_id)
    wait(lambda: cluster.stopped, "for the gang to be stopped")


def test_nodes_that_were_taken_away_are_a_reason_to_start_again_with_logs_of_its_own(yard: Yard) -> None:
    yard.start()
    run_id, cluster = yard.submit("hpc"), yard.clusters["hpc"]
    running(yard, cluster, run_id)
    files.append(yard.store, run_id, "user_logs/std_log.txt", 0, b"one")
    cluster.gone(run_id, "PREEMPTED", taken=True)
    running(yard, cluster, run_id)
    files.append(yard.store, run_id, "user_logs/std_log.txt", 0, b"two")
    assert cluster.attempts_of(run_id) == [1, 2]
    assert cluster.gangs[0][0].link != cluster.gangs[1][0].link
    yard.scheduler.report(run_id, Fact(states.ENDED, outcome="completed", attempt=1))
    assert yard.run(run_id).status == names.RUNNING, "told by the former attempt"
    yard.scheduler.report(run_id, Fact(states.ENDED, outcome="completed", attempt=2))
    done = yard.run(run_id)
    assert (done.status, done.attempt) == (names.COMPLETED, 2)
    with yard.store.database.read() as connection:
        assert [entry.name for entry in files.find(connection, run_id)] == [
            "user_logs/attempt_1/std_log.txt",
            "user_logs/std_log.txt",
        ]
        history = [change.reason for change in runs.states(connection, run_id)]
    assert "its nodes were taken away (PREEMPTED); attempt 2 follows" in history


@pytest.mark.parametrize(
    ("taken", "status", "code"), [(True, names.QUEUED, None), (False, names.FAILED, "StoppedFromOutside")]
)
def test_a_stop_that_came_from_the_cluster_is_explained_by_the_cluster(
    yard: Yard, taken: bool, status: str, code: str | None
) -> None:
    yard.start()
    run_id, cluster = yard.submit("hpc"), yard.clusters["hpc"]
    running(yard, cluster, run_id)
    cluster.away = "not now"  # so that the next attempt stays in the queue
    assert yard.scheduler.report(run_id, STOPPED).status == names.FINALIZING
    cluster.gone(run_id, "CANCELLED by 0", taken)
    run = yard.reach(run_id, status)
    assert (run.error or {}).get("code") == code


def test_a_run_is_started_again_only_so_often(yard: Yard) -> None:
    yard.start()
    run_id, cluster = yard.submit("hpc", restarts=1), yard.clusters["hpc"]
    for _ in range(2):
        running(yard, cluster, run_id)
        cluster.gone(run_id, "PREEMPTED", taken=True)
    failed = yard.reach(run_id, names.FAILED)
    assert failed.error is not None
    assert failed.error["code"] == "RestartsExhausted"
    assert cluster.attempts_of(run_id) == [1, 2]


def test_the_next_attempt_waits_until_nothing_of_the_former_one_is_alive(yard: Yard) -> None:
    """Whatever server is there."""
    yard.start()
    run_id, cluster = yard.submit("hpc"), yard.clusters["hpc"]
    running(yard, cluster, run_id)
    assert yard.scheduler.preempt(run_id).status == names.RUNNING
    wait(lambda: cluster.stopped == [run_id], "for the gang to be stopped")
    assert yard.scheduler.preempt(run_id).status == names.RUNNING, "twice is as good as once"
    yard.scheduler.report(run_id, STOPPED)
    assert yard.scheduler.preempt(run_id).status == names.QUEUED
    waiting = yard.run(run_id)
    assert (waiting.status, waiting.reason) == (names.QUEUED, "preempted on purpose; attempt 2 follows")
    yard.restart(before=cluster.stopped.clear)
    assert yard.run(run_id).status == names.QUEUED
    assert cluster.attempts_of(run_id) == [1]
    wait(lambda: cluster.stopped == [run_id], "for the new server to find the gang")
    cluster.gone(run_id)
    wait(lambda: cluster.attempts_of(run_id) == [1, 2], "for the second attempt")


def test_a_restart_is_not_forgotten_when_the_server_dies(yard: Yard) -> None:
    yard.start()
    cluster = yard.clusters["hpc"]
    preempted, between = yard.submit("hpc"), yard.submit("hpc")
    for run_id in (preempted, between):
        running(yard, cluster, run_id)
        yard.scheduler.preempt(run_id)
    yard.scheduler.report(between, STOPPED)
    yard.restart(before=cluster.alive.clear)  # both gangs end while there is no server
    wait(lambda: cluster.attempts_of(preempted) == [1, 2], "for the second attempt of the one that was running")
    wait(lambda: cluster.attempts_of(between) == [1, 2], "for the second attempt of the one that had ended")


def test_cancel_wins_over_a_restart(yard: Yard) -> None:
    yard.start()
    cluster = yard.clusters["hpc"]
    asked, between = yard.submit("hpc"), yard.submit("hpc")
    for run_id in (asked, between):
        running(yard, cluster, run_id)
        yard.scheduler.preempt(run_id)
    yard.scheduler.report(between, STOPPED)
    for run_id in (asked, between):
        yard.scheduler.cancel(run_id)
    yard.scheduler.report(asked, STOPPED)
    for run_id in (asked, between):
        cluster.gone(run_id)
        assert yard.run(run_id).status == names.CANCELED
    assert len(cluster.gangs) == 2


OWN_WORDS = {"code": "Diverged", "message": "the loss is not a number"}


def test_a_run_that_its_user_fails_is_ended_and_neither_explained_nor_started_again(yard: Yard) -> None:
    yard.start()
    run_id, cluster = yard.submit("hpc"), yard.clusters["hpc"]
    running(yard, cluster, run_id)
    assert yard.scheduler.declare(run_id, "failed", OWN_WORDS).status == names.FINALIZING
    wait(lambda: cluster.stopped == [run_id], "for the gang to be stopped")
    assert yard.scheduler.holders("local", "hpc") == [run_id], "its nodes are taken until it has ended"
    with pytest.raises(Conflict):
        yard.scheduler.preempt(run_id)
    yard.restart()
    wait(lambda: cluster.stopped == [run_id, run_id], "for the gang to be stopped by the next server")
    assert yard.scheduler.report(run_id, STOPPED).status == names.FAILED
    run = yard.run(run_id)
    assert (run.error, run.reason, run.attempt) == (OWN_WORDS, OWN_WORDS["message"], 1)


def test_a_run_that_its_user_fails_while_it_waits_is_not_started(yard: Yard) -> None:
    yard.start()
    cluster = yard.clusters["hpc"]
    cluster.away = "slurmctld does not answer."
    run_id = yard.submit("hpc")
    yard.reach(run_id, names.QUEUED)
    assert yard.scheduler.declare(run_id, "failed", OWN_WORDS).status == names.FAILED
    cluster.away = None
    after = yard.submit("hpc")
    yard.reach(after, names.PROVISIONING)
    assert cluster.attempts_of(run_id) == []
    assert yard.run(run_id).error == OWN_WORDS


def test_what_is_not_under_way_cannot_be_preempted(yard: Yard) -> None:
    yard.start()
    cluster = yard.clusters["hpc"]
    done = yard.submit("hpc")
    running(yard, cluster, done)
    yard.scheduler.report(done, Fact(states.ENDED, outcome="completed"))
    cluster.away = "not now"
    waiting = yard.submit("hpc")
    yard.reach(waiting, names.QUEUED)
    for run_id, status in ((done, "Completed"), (waiting, "Queued")):
        with pytest.raises(Conflict, match=f"it is {status}"):
            yard.scheduler.preempt(run_id)


def test_a_run_that_was_cancelled_while_it_was_handed_over_is_stopped(yard: Yard) -> None:
    yard.start()
    cluster = yard.clusters["hpc"]
    cluster.hangs = threading.Event()
    run_id = yard.submit("hpc")
    wait(lambda: yard.scheduler.holders("local", "hpc"))
    assert yard.scheduler.cancel(run_id).status == names.CANCELED
    cluster.hangs.set()
    wait(lambda: run_id in cluster.stopped or not cluster.gangs, "for the gang to be stopped")


@pytest.mark.parametrize("server", ["the same server", "the next server"])
def test_a_gang_that_was_started_though_nobody_heard_of_it_is_found_and_not_started_twice(
    yard: Yard, server: str
) -> None:
    yard.start()
    cluster = yard.clusters["hpc"]
    cluster.mute = True
    run_id = yard.submit("hpc")
    yard.reach(run_id, names.QUEUED)
    if server == "the next server":
        yard.restart(lambda: setattr(cluster, "events", None))  # the former one may have found it already
    yard.reach(run_id, names.PROVISIONING)
    assert cluster.attempts_of(run_id) == [1]
    assert cluster.promised[-1] == {"name": f"{run_id}.1"}
    wait(lambda: cluster.events, "for the gang to be watched").placed(run_id)
    yard.reach(run_id, names.PREPARING)
    cluster.gone(run_id, "PREEMPTED", taken=True)
    cluster.mute = False
    wait(lambda: cluster.attempts_of(run_id) == [1, 2], "for the second attempt, which was promised nothing yet")


def test_a_gang_that_was_not_started_is_started_once_its_cluster_answers(yard: Yard) -> None:
    yard.start()
    cluster = yard.clusters["hpc"]
    cluster.mute = True
    run_id = yard.submit("hpc")
    wait(lambda: cluster.gangs, "for the first try")
    cluster.alive.clear()  # it was lost on the way
    cluster.mute = False
    yard.reach(run_id, names.PROVISIONING)
    assert cluster.attempts_of(run_id) == [1, 1], "the same attempt"


def test_a_run_that_is_cancelled_while_nobody_knows_whether_it_was_started_is_stopped(yard: Yard) -> None:
    yard.start()
    cluster = yard.clusters["hpc"]
    cluster.mute, cluster.away_after = True, "not now"
    run_id = yard.submit("hpc")
    wait(lambda: cluster.away, "for the cluster to have taken the run, and to be away")
    assert yard.scheduler.cancel(run_id).status == names.CANCELED
    cluster.away = None
    wait(lambda: cluster.stopped == [run_id], "for what may have been started to be stopped")


def test_a_target_that_grows_lets_waiting_runs_start_and_one_that_is_gone_fails_them(yard: Yard) -> None:
    yard.start()
    for most, status in ((0, names.QUEUED), (1, names.PROVISIONING)):
        with yard.store.database.write() as connection:
            compute.replace(connection, "local", Target("hpc", "slurm", "Slurm", max_nodes=most))
        yard.scheduler.target_changed("local", "hpc")
        run_id = "run-1" if most else yard.submit("hpc")
        assert ("make the target larger" in str(yard.reach(run_id, status).reason)) == (most == 0)
    with yard.store.database.write() as connection:
        compute.remove(connection, "local", "ray")
    yard.scheduler.target_changed("local", "ray")
    failed = yard.reach(yard.submit("ray"), names.FAILED)
    assert (failed.error or {})["code"] == "UnknownTarget"


def test_a_cancel_reaches_a_run_that_starts_in_the_same_moment(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a run that is stored and not in its queue yet: a parent that is cancelled may have such a child."""
    yard.start()
    cluster, apply = yard.clusters["hpc"], yard.scheduler._transitions.apply
    new = NewRun("run-1", "local", "trial", kind=SCRIPT, target="hpc", launch={"command": "true"})
    with yard.store.database.write() as connection:
        made = runs.create(connection, new)

    def apply_late(run_id: str, *facts: Fact) -> Run:
        if facts[0].kind == states.CANCEL:
            yard.scheduler.submitted(made)
            wait(lambda: "run-1" in cluster.alive, "for it to be started")
            yard.reach("run-1", names.PROVISIONING)
        return apply(run_id, *facts)

    monkeypatch.setattr(yard.scheduler._transitions, "apply", apply_late)
    assert yard.scheduler.cancel("run-1").status == names.CANCEL_REQUESTED
    wait(lambda: cluster.stopped == ["run-1"], "for its gang to be asked to end")
