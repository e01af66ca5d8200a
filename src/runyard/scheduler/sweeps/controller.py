"""One sweep under way: starts children, judges them, replaces those that end, and ends the sweep.

What it decides is in the database before it acts on it: a trial and its run are stored together before the run is
started, a verdict before the child is stopped. So `load` finds everything, whenever a former server was killed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from sqlalchemy import Connection

from runyard.contracts import states as names
from runyard.contracts.sweeps import space as spaces
from runyard.contracts.sweeps import sweep as contract
from runyard.contracts.sweeps.sweep import BadSweep
from runyard.scheduler import states
from runyard.scheduler.states import Fact
from runyard.scheduler.sweeps import own, points, record
from runyard.scheduler.sweeps.children import Template
from runyard.scheduler.sweeps.policies.policy import Policy, policy_of
from runyard.scheduler.sweeps.record import API, CONTROLLER, GENERATOR, SCHEDULER, SweepLog
from runyard.scheduler.sweeps.samplers.sampler import Sampler, sampler_of
from runyard.scheduler.sweeps.standing import Standing
from runyard.scheduler.sweeps.trials import Parameters, Trial, shown
from runyard.store.assets import sweeps
from runyard.store.errors import NotFound
from runyard.store.metrics import staging
from runyard.store.runs import labels, runs
from runyard.store.runs.records import Run
from runyard.store.store import Store

FIRST_FAILURES = 10
"""A sweep is given up when every child has failed by then, at the latest."""


@dataclass(frozen=True)
class Hands:
    """What a sweep does to runs: `submit` one that was stored, ask one to `stop` and why, `report` a fact of one."""

    submit: Callable[[Run], None]
    stop: Callable[[str, str], None]
    report: Callable[[str, Fact], Run]
    grown: Callable[[str, str, int], None]


class Controller:
    """For one thread. `stopping` alone may be set from others: no more children are started then."""

    def __init__(self, store: Store, run_id: str, hands: Hands) -> None:
        self._store, self._run_id, self._hands = store, run_id, hands
        self._log = SweepLog(store, run_id, hands.grown)
        self.stopping: str | None = None
        self.is_loaded = False
        self._begin()

    def _begin(self) -> None:
        """Nothing is known yet."""
        self._points: dict[int, points.Reader] = {}
        self._live: set[int] = set()
        self._unstored: set[int] = set()  # trials that have ended, and whose result is not stored yet
        self._to_judge: list[tuple[int, int]] = []
        self._former: list[Trial] = []
        self._stored_best: tuple[int, float] | None = None
        self._exhausted = False
        self._over = False
        self._failure: dict[str, Any] | None = None
        self._said: set[str] = set()
        self.trials: dict[int, Trial] = {}

    # -- taking it up -------------------------------------------------------------------------------------------------

    def load(self) -> None:
        """Read all that is known of the sweep."""
        self._begin()
        with self._store.database.write() as connection:
            parent = runs.get(connection, self._run_id)
            stored = sweeps.get(connection, self._run_id)
            definition, launch = runs.definition_and_launch(connection, self._run_id)
            self._sweep, self._began_at = stored.sweep, stored.began_at
            self._standing = Standing(self._sweep.maximizes)
            self._template = Template(parent, definition, launch or {}, stored.child_properties)
            self._load_trials(connection)
            self._former = [trial for each in self._sweep.resume_from for trial in self._former_of(connection, each)]
        self._status = parent.status
        if parent.status == names.CANCEL_REQUESTED:
            self.stopping = "the sweep was cancelled"
        elif states.is_declared(parent.error):
            self.stopping = "the sweep was ended"
        self._prepare()
        self._stored_best = self._standing.best_value
        self.is_loaded = True

    def _prepare(self) -> None:
        """Get the sampler and the policy; without them there is no sweep."""
        try:
            self._sampler: Sampler = sampler_of(self._sweep)
            self._policy: Policy = policy_of(self._sweep)
        except BadSweep as error:
            self._give_up("BadSweep", str(error))

    def _load_trials(self, connection: Connection) -> None:
        for row in sweeps.find_trials(connection, self._run_id):
            trial = self._trial_of(row)
            self.trials[row.number] = trial
            if row.status is not None:
                reader = self._reader(row.number)
                reader.restore(sweeps.curve(connection, row.run_id, self._sweep.metric))
            self._standing.note(trial)
            if not row.ended:
                self._live.add(row.number)
                if trial.intervals:
                    self._to_judge.append((row.number, trial.intervals))
                continue
            self._standing.note_end(trial)
            if row.intervals is None:
                self._unstored.add(row.number)

    def _trial_of(self, row: sweeps.StoredTrial) -> Trial:
        return Trial(
            number=row.number,
            run_id=row.run_id,
            parameters=row.parameters,
            maximizes=self._sweep.maximizes,
            status=(row.status or "Deleted") if row.ended else None,
            verdict=row.verdict,
            best_known=row.best,
        )

    def _former_of(self, connection: Connection, run_id: str) -> list[Trial]:
        """The trials of a sweep that this one goes on from. One that was deleted since tells nothing."""
        try:
            rows = sweeps.find_trials(connection, run_id)
        except NotFound:
            return []
        found = [self._trial_of(row) for row in rows if row.status is not None]
        for trial in found:
            points.Reader(trial, self._sweep.metric).restore(sweeps.curve(connection, trial.run_id, self._sweep.metric))
        return found

    def go_on(self) -> None:
        """Do whatever follows from what is known."""
        if self._status == names.NOT_STARTED:
            self._status = self._hands.report(self._run_id, Fact(states.STARTED, reason="samples its space")).status
            self._say_settings()
        for number in sorted(self._live):
            verdict = self.trials[number].verdict
            if verdict is not None:
                self._hands.stop(self.trials[number].run_id, verdict)
        if self.stopping is not None:
            self._stop_children(self.stopping)
        self._judge()
        self.advance()

    def renew(self) -> None:
        """The sweep was asked for more."""
        with self._store.database.read() as connection:
            stored = sweeps.get(connection, self._run_id)
        self._sweep, self._began_at = stored.sweep, stored.began_at
        self._exhausted = False
        self._log.say(API, f"The sweep may have {self._sweep.runs} children now")
        self.advance()

    @property
    def judges(self) -> bool:
        """Whether children may be stopped because of what they log."""
        return self.is_loaded and self._sweep.policy.get("name") != contract.NO_POLICY

    @property
    def seconds_left(self) -> float:
        """How long the sweep may go on."""
        passed = (datetime.now(timezone.utc) - self._began_at).total_seconds()
        return self._sweep.minutes * 60.0 - passed

    # -- what happens -------------------------------------------------------------------------------------------------

    def ended(self, number: int, status: str) -> None:
        """A child has ended, or was deleted. To be followed by `advance`, once for all that have ended by now."""
        if number not in self._live:
            return
        self.trials[number].status = status
        self._live.discard(number)
        self._unstored.add(number)
        trial = self.trials[number]
        self._standing.note_end(trial)
        found = f"best {shown(trial.best)}" if trial.best is not None else f"logged no {self._sweep.metric!r}"
        self._log.say(CONTROLLER, f"{trial.run_id} is {status}: {found} after {trial.intervals} intervals")
        self._give_up_where_all_fail()

    def delivered(self, number: int, writer: str, offset: int, data: bytes) -> None:
        """Lines of a journal of a child were stored."""
        trial = self.trials.get(number)
        if trial is None:
            return
        before = trial.intervals
        for remark in self._reader(number).read(writer, offset, data):
            self._say_once(f"{trial.run_id} {remark}")
        self._standing.note(trial)
        for interval in range(before + 1, trial.intervals + 1):
            self._to_judge.append((number, interval))
        self._judge()
        self._log.write()

    def write_log(self) -> None:
        """Store what was said so far."""
        self._log.write()

    def cancel(self, why: str) -> None:
        """The parent is to end."""
        self.stopping = why
        self._log.say(CONTROLLER, f"No more children: {why}")
        self._stop_children(why)
        self.advance()

    def out_of_time(self) -> None:
        if self.seconds_left <= 0 and not self._over:
            self.cancel(f"the sweep has reached its max_duration_minutes ({self._sweep.minutes})")

    # -- what follows -------------------------------------------------------------------------------------------------

    def _judge(self) -> None:
        while self._to_judge:
            number, interval = self._to_judge[0]
            trial = self.trials[number]
            if number in self._live and trial.verdict is None and self.stopping is None:
                verdict = self._verdict(trial, interval)
                if verdict is not None:
                    with self._store.database.write() as connection:
                        sweeps.set_verdict(connection, self._run_id, number, verdict)
                    trial.verdict = verdict
                    self._log.say(CONTROLLER, f"{trial.run_id} {verdict}")
                    self._hands.stop(trial.run_id, verdict)
            self._to_judge.pop(0)

    def _verdict(self, trial: Trial, interval: int) -> str | None:
        others = [*self._former, *(each for each in self.trials.values() if each is not trial)]
        try:
            return own.checked_verdict(
                self._policy.judge(trial, interval, others) if self._policy.is_due(interval) else None
            )
        except Exception as error:  # noqa: BLE001 - a policy may be the user's own
            self._say_once(f"The policy failed, and {trial.run_id} goes on: {type(error).__name__}: {error}", "ERROR")
            return None

    def advance(self) -> None:
        """Store the results of those that have ended together with those that take their places, and start these."""
        fresh = self._next_trials()
        best = self._standing.best_value
        over = not self._live and not fresh and not self._over
        made: list[Run] = []
        if fresh or self._unstored or over:
            with self._store.database.write() as connection:
                if self._unstored:
                    ended = [self.trials[number] for number in sorted(self._unstored)]
                    results = {trial.number: (trial.best, trial.intervals) for trial in ended}
                    sweeps.set_results(connection, self._run_id, results)
                if self._standing.best is not None and (best != self._stored_best or over):
                    record.store_best(connection, self._run_id, self._standing.best, final=over)
                if fresh:
                    made = self._store_trials(connection, fresh)
        self._unstored.clear()
        self._stored_best = best
        for trial, run in zip(fresh, made, strict=True):
            self.trials[trial.number] = trial
            self._live.add(trial.number)
            self._hands.submit(run)
            self._log.say(SCHEDULER, f"Scheduled a job. Id='{trial.run_id}' {json.dumps(dict(trial.parameters))}")
        if over:
            self._end()

    def _next_trials(self) -> list[Trial]:
        fresh: list[Trial] = []
        while (
            self.stopping is None
            and not self._exhausted
            and len(self._live) + len(fresh) < self._sweep.at_once
            and len(self.trials) + len(fresh) < self._sweep.runs
        ):
            number = len(self.trials) + len(fresh)
            parameters = self._sampled(number, [*self._former, *self.trials.values(), *fresh])
            if parameters is None:
                break
            id = sweeps.trial_id(self._run_id, number)
            fresh.append(Trial(number, id, parameters, self._sweep.maximizes))
        return fresh

    def _sampled(self, number: int, history: Sequence[Trial]) -> Parameters | None:
        again = self._sweep.resume_parameters
        if number < len(again):
            return again[number]
        try:
            parameters = own.checked_parameters(self._sampler.sample(number - len(again), history))
        except Exception as error:  # noqa: BLE001 - a sampler may be the user's own
            self._give_up("SamplerFailed", f"The sampler failed at child {number}: {type(error).__name__}: {error}")
            return None
        if parameters is None:
            self._exhausted = True
            self._log.say(GENERATOR, f"The space has no more: all of its {number} combinations are children")
        return parameters

    def _store_trials(self, connection: Connection, fresh: Sequence[Trial]) -> list[Run]:
        sweeps.add_trials(connection, self._run_id, {trial.number: trial.parameters for trial in fresh})
        texts = {f"{contract.SYSTEM_TAG}{trial.run_id}": json.dumps(dict(trial.parameters)) for trial in fresh}
        labels.put(connection, runs.serial_of(connection, self._run_id), labels.TAG, texts)
        return [runs.create(connection, self._template.run_of(trial, self._resumed(trial))) for trial in fresh]

    def _resumed(self, trial: Trial) -> str:
        """The run that a trial goes on from; none for those that were sampled."""
        resumed = self._sweep.resume_children
        return resumed[trial.number] if trial.number < len(resumed) else ""

    def _stop_children(self, why: str) -> None:
        for number in sorted(self._live):
            self._hands.stop(self.trials[number].run_id, self.trials[number].verdict or f"stopped: {why}")

    def _give_up_where_all_fail(self) -> None:
        enough = min(self._sweep.runs, max(3, min(self._sweep.at_once, FIRST_FAILURES)))
        failed = self._standing.failed
        if self.stopping is None and len(failed) >= enough and self._standing.all_fail:
            self._give_up(
                "EveryChildFailed",
                f"All of the first {len(failed)} children failed, so no more are started. `runyard show {failed[0]}` "
                "tells why the first one did.",
            )

    def _give_up(self, code: str, message: str) -> None:
        self._failure = {"code": code, "message": message}
        self.stopping = message
        self._log.say(CONTROLLER, message, "ERROR")
        self._stop_children("the sweep was given up")

    # -- the end ------------------------------------------------------------------------------------------------------

    def _end(self) -> None:
        self._over = True
        fact = self._last_fact()
        self._log.say(CONTROLLER, fact.reason or "The sweep has ended")
        self._log.write()
        self._hands.report(self._run_id, fact)

    def _last_fact(self) -> Fact:
        with self._store.database.read() as connection:
            parent = runs.get(connection, self._run_id)
        best, failures = self._standing.best, self._standing.failed
        ended = len(self.trials)
        stopped = sum(trial.verdict is not None and trial.status == names.CANCELED for trial in self.trials.values())
        counted = f"{ended} children, {stopped} stopped early, {len(failures)} failed"
        if parent.status == names.CANCEL_REQUESTED:
            return Fact(states.ENDED, outcome="canceled", reason=f"cancelled: {counted}")
        failure = self._failure
        if failure is None and self.stopping is None and self._standing.all_fail:
            which = (
                f"{ended} children" if len(failures) == ended else f"{len(failures)} children that were not canceled"
            )
            message = f"All {which} failed. `runyard show {failures[0]}` tells why the first one did."
            failure = {"code": "EveryChildFailed", "message": message}
        if failure is not None:
            return Fact(states.ENDED, outcome="failed", error=failure, reason=str(failure["message"]))
        why = f"; {self.stopping}" if self.stopping is not None else ""
        if best is None or best.best is None:
            warning = {"code": "NoPrimaryMetric", "message": self._no_metric()}
            reason = f"{counted}; {warning['message']}{why}"
            return Fact(states.ENDED, outcome="completed", reason=reason, warnings=[warning])
        reason = f"{counted}; the best is {best.run_id} with {self._sweep.metric} {shown(best.best)}{why}"
        return Fact(states.ENDED, outcome="completed", reason=reason)

    def _no_metric(self) -> str:
        staging.settle(self._store.database, [trial.run_id for trial in self.trials.values()])
        with self._store.database.read() as connection:
            logged = sweeps.metric_names(connection, self._run_id)
        text = f"no child has logged a number as {self._sweep.metric!r}, so there is no best one"
        return f"{text}; what they logged: {', '.join(logged)}" if logged else f"{text}; they logged no metric at all"

    # -- words --------------------------------------------------------------------------------------------------------

    def _say_settings(self) -> None:
        sweep = self._sweep
        size = spaces.size(sweep.space)
        self._log.say(API, "Experiment created")
        many = "more than can be counted" if size is None else str(size)
        self._log.say(
            GENERATOR,
            f"Sampling {sweep.sampling['name']}: {sweep.runs} children at most, {sweep.at_once} at once, of a space of "
            f"{many}; policy {sweep.policy['name']}; {sweep.goal} {sweep.metric!r}",
        )
        if size is not None and size < sweep.runs and sweep.sampling["name"] == contract.GRID:
            self._log.say(GENERATOR, f"max_total_runs is {sweep.runs}, but the space holds {size}", "WARNING")

    def _say_once(self, text: str, level: str = "WARNING") -> None:
        if text not in self._said:
            self._said.add(text)
            self._log.say(CONTROLLER, text, level)

    def _reader(self, number: int) -> points.Reader:
        return self._points.setdefault(number, points.Reader(self.trials[number], self._sweep.metric))
