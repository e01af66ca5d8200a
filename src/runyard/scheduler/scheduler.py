"""The scheduler: takes runs from submit to their end, by events.

All that it knows is in the database, so it can be killed at any time: on start it takes up the runs that are under
way, finds their node runners again, and has what dead ones left behind delivered.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from runyard.contracts import states as names
from runyard.contracts.plan import Launch, Plan
from runyard.engines.base import Engine, EngineError
from runyard.scheduler import states
from runyard.scheduler.queue import Queue
from runyard.scheduler.revealing import reveal
from runyard.scheduler.states import Fact
from runyard.store import files, runs, snapshots, workspace_settings, workspaces
from runyard.store.errors import StoreError
from runyard.store.runs import Run, StateChange
from runyard.store.secrets import SecretMissing
from runyard.store.store import Store

log = logging.getLogger("runyard.scheduler")

SILENT_AFTER = 60.0
"""Seconds without a sign of life until a run counts as NotResponding; its reporter sends one every 10 s."""

LOST_AFTER = 1800.0
"""Seconds without a sign of life until a run is given up."""

RESCUES = 3
"""How often a new node runner is sent to deliver what a dead one left."""


@dataclass(frozen=True)
class Surroundings:
    """What a node runner must know of the server that sends it."""

    home: Path
    server_url: Callable[[], str]
    token_for: Callable[[str], str]
    sdk_folder: Callable[[], Path]
    secret_of: Callable[[str], str]  # the value of a secret by its name
    grace_seconds: float = 10.0


class Scheduler:
    """Starts queued runs, and applies facts to runs. Every public method may be called from any thread."""

    def __init__(
        self,
        store: Store,
        engines: Mapping[str, Engine],
        surroundings: Surroundings,
        notify: Callable[[str, StateChange], None],
    ) -> None:
        self._store = store
        self._engines = dict(engines)
        self._surroundings = surroundings
        self._notify = notify
        self._queues = {target: Queue(engine.places) for target, engine in self._engines.items()}
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._closing = False
        self._contacts: dict[str, float] = {}
        self._rescues: dict[str, int] = {}
        self._untold: dict[str, str] = {}  # node runners that went while the database did not answer, and how
        self._thread = threading.Thread(target=self._work, name="scheduler", daemon=True)

    def start(self) -> None:
        with self._store.database.read() as connection:
            under_way = runs.active(connection)
        for run in under_way:
            self._take_up(run)
        for engine in self._engines.values():
            for run_id in engine.left():
                self._clear(engine, run_id)
        self._thread.start()

    def close(self) -> None:
        """Stop scheduling. Runs go on: their node runners do not need the server."""
        self._closing = True
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join()

    def targets(self) -> list[str]:
        return sorted(self._engines)

    def submitted(self, run_id: str) -> None:
        """A run was stored. One with a launch is put in the queue of its target; the others are led by their maker."""
        with self._store.database.read() as connection:
            run = runs.get(connection, run_id)
        if run.led:
            self._expect(run_id)
        else:
            self._enqueue(run)

    def contact(self, run_id: str) -> None:
        """Something was heard from a run's reporter."""
        if run_id in self._contacts:
            self._contacts[run_id] = time.monotonic()

    def report(self, run_id: str, fact: Fact) -> str:
        """Apply what a run's reporter saw; returns the state after it."""
        self.contact(run_id)
        if fact.kind == states.ENDED:
            # Before the state: whoever sees the run ended must find its logs whole.
            files.seal(self._store, run_id)
        return self._apply(run_id, fact).status

    def cancel(self, run_id: str) -> Run:
        """Ask a run and its descendants to stop."""
        with self._store.database.read() as connection:
            descendants = runs.descendants(connection, run_id)
        for each in [*descendants, run_id]:
            self._stop(self._apply(each, Fact(states.CANCEL)))
        with self._store.database.read() as connection:
            return runs.get(connection, run_id)

    def forget(self, run_id: str) -> None:
        """A run was deleted."""
        self._contacts.pop(run_id, None)
        self._rescues.pop(run_id, None)

    def _expect(self, run_id: str) -> None:
        """From now on until it ends, something must be heard from this run now and then."""
        self._contacts[run_id] = time.monotonic()

    def _apply(self, run_id: str, fact: Fact) -> Run:
        """The one place that changes a run's state: what `decide` says is stored with its time and reason."""
        with self._store.database.write() as connection:
            run = runs.get(connection, run_id)
            change = states.decide(run.status, run.error, run.led, fact)
            if change is None:
                return run
            now = datetime.now(timezone.utc)
            run = runs.record_state(
                connection, run_id, change.status, change.reason, now, change.error, fact.warnings, change.at
            )
        self._notify(run_id, StateChange(run.status, now, change.reason))
        if run.status in names.TERMINAL:
            self._ended(run)
        return run

    def _ended(self, run: Run) -> None:
        self._contacts.pop(run.id, None)
        self._rescues.pop(run.id, None)
        queue = self._queues.get(run.target)
        if queue is not None:
            with self._lock:
                queue.leave(run.id)
            self._wake.set()
        if not run.led:
            self._end_led_children(run)

    def _end_led_children(self, parent: Run) -> None:
        """Child runs that the script led, and did not end itself, end as it did: nobody else is left to lead them."""
        with self._store.database.read() as connection:
            children = [runs.get(connection, each) for each in runs.descendants(connection, parent.id)]
        outcome = {names.COMPLETED: "completed", names.CANCELED: "canceled"}.get(parent.status, "failed")
        error = None
        if outcome == "failed":
            error = {"code": "ParentFailed", "message": f"Its parent run {parent.id} failed: {parent.reason}"}
        for child in children:
            if child.led and child.status not in names.TERMINAL:
                self.report(
                    child.id,
                    Fact(states.ENDED, outcome=outcome, error=error, reason=f"ended with its parent run {parent.id}"),
                )

    def _enqueue(self, run: Run) -> None:
        queue = self._queues.get(run.target)
        if queue is None:
            self._fail(run.id, "UnknownTarget", f"There is no compute target {run.target!r} on this server any more.")
            return
        with self._lock:
            queue.wait(run.id, run.parent_id)
        self._wake.set()

    def _stop(self, run: Run) -> None:
        if run.status != names.CANCEL_REQUESTED:
            return
        with self._store.database.read() as connection:
            handle = runs.handle(connection, run.id)
        if handle is not None:  # else it is being started; `_launch` looks at the state again
            self._engines[run.target].stop(handle)

    def _work(self) -> None:
        while not self._closing:
            self._wake.wait(timeout=5.0)
            self._wake.clear()
            try:
                for target, queue in self._queues.items():
                    self._start_all(target, queue)
                self._look_for_silence()
                for run_id, how in list(self._untold.items()):
                    del self._untold[run_id]
                    self._gone(run_id, how)
            except StoreError as error:
                # The queue is untouched: the next round tries again, once there is space or the database answers.
                log.error("the scheduler could not go on: %s %s", error.title, error.help)

    def _start_all(self, target: str, queue: Queue) -> None:
        while not self._closing:
            with self._lock:
                run_id = queue.next()
                if run_id is not None:
                    queue.hold(run_id)
                untold = queue.untold() if run_id is None else []
                why = queue.why()
            if run_id is None:
                for each in untold:
                    self._apply(each, Fact(states.QUEUE, reason=why))
                return
            try:
                self._launch(target, run_id)
            except StoreError:
                with self._lock:
                    queue.give_back(run_id)
                raise

    def _launch(self, target: str, run_id: str) -> None:
        run = self._apply(run_id, Fact(states.HAND_OVER, reason=f"a node runner starts on {target}"))
        if run.status != names.PREPARING:  # cancelled while it waited
            return
        engine = self._engines[target]
        self._expect(run_id)
        try:
            handle = engine.start(*self._plan(run), self._gone)
        except EngineError as error:
            self._fail(run_id, "EngineError", str(error))
            return
        except SecretMissing as error:
            self._fail(run_id, "SecretMissing", str(error))
            return
        with self._store.database.write() as connection:
            runs.set_handle(connection, run_id, handle)
            run = runs.get(connection, run_id)
        if run.status == names.CANCEL_REQUESTED:
            engine.stop(handle)

    def _plan(self, run: Run) -> tuple[Plan, bytes | None]:
        with self._store.database.read() as connection:
            workspace = workspaces.get(connection, run.workspace)
            _, launch = runs.definition_and_launch(connection, run.id)
            manifest = snapshots.manifest_text(connection, run.snapshot_id) if run.snapshot_id else None
            settings = workspace_settings.find(connection, run.workspace)
        around = self._surroundings
        revealed, secrets = reveal(launch or {}, around.secret_of)
        plan = Plan(
            run_id=run.id,
            root_run_id=run.root_id,
            experiment=run.experiment,
            experiment_id=run.experiment_id,
            workspace=workspace.name,
            subscription_id=workspace.subscription_id,
            resource_group=workspace.resource_group,
            target=run.target,
            token=around.token_for(run.id),
            server_url=around.server_url(),
            launch=Launch.from_dict(revealed),
            snapshot_id=run.snapshot_id,
            server_file=str(around.home / "server.json"),
            objects=str(self._store.objects.folder),
            sdk=str(around.sdk_folder()),
            grace_seconds=around.grace_seconds,
            environments=str(around.home / "environments"),
            environments_limit=workspace_settings.limit(settings),
            relax=workspace_settings.relax(settings),
            secrets=secrets,
        )
        return plan, manifest

    def _take_up(self, run: Run) -> None:
        """A run that was under way when the former server ended."""
        if run.led:
            self._expect(run.id)
            return
        if run.status in (names.NOT_STARTED, names.QUEUED) or run.target not in self._engines:
            self._enqueue(run)
            return
        self._expect(run.id)
        with self._lock:
            self._queues[run.target].hold(run.id)
        with self._store.database.read() as connection:
            handle = runs.handle(connection, run.id)
        if handle is None or not self._engines[run.target].watch(run.id, handle, self._gone):
            self._gone(run.id, "it ended while no server was running")
        elif run.status == names.CANCEL_REQUESTED:
            self._engines[run.target].stop(handle)

    def _gone(self, run_id: str, how: str) -> None:
        """No node runner of a run is alive. If it has not told how the run ended, another one delivers what is left."""
        if self._closing:
            return  # the next server takes it up
        try:
            with self._store.database.read() as connection:
                run = runs.get(connection, run_id)
            if run.status in names.TERMINAL:
                self._clear(self._engines[run.target], run_id)
                return
            self._rescues[run_id] = self._rescues.get(run_id, 0) + 1
            handle = None
            if self._rescues[run_id] <= RESCUES:
                handle = self._engines[run.target].rescue(run_id, self._gone)
            if handle is None and run.status == names.PREPARING and self._rescues[run_id] <= RESCUES:
                with self._lock:  # the server died before it had started anything
                    self._queues[run.target].leave(run_id)
                self._enqueue(run)
                return
            if handle is None:
                message = f"The node runner of this run ended before it could tell how the run went ({how})."
                self._fail(run_id, "NodeRunnerLost", message, states.LOST)
                return
            log.warning("the node runner of %s is gone (%s); another one delivers what it left", run_id, how)
            with self._store.database.write() as connection:
                runs.set_handle(connection, run_id, handle)
        except (StoreError, EngineError) as error:
            if self._closing:
                return
            log.error("run %s could not be taken up after its node runner was gone: %s", run_id, error)
            if isinstance(error, StoreError) and error.code != "run_not_found":
                self._untold[run_id] = how

    def _clear(self, engine: Engine, run_id: str) -> None:
        """Remove what a node runner left that was killed after it had told how its run ended. An end that was only
        guessed leaves the folder alone, and so does a run that is not in this database: nobody has its content yet."""
        with self._store.database.read() as connection:
            run = runs.look_up(connection, run_id)
        if run is not None and run.status in names.TERMINAL and not states.is_guess(run.status, run.error):
            engine.clear(run_id)

    def _look_for_silence(self) -> None:
        now = time.monotonic()
        for run_id, heard in list(self._contacts.items()):
            silence = now - heard
            try:
                if silence > LOST_AFTER:
                    message = f"Nothing was heard from this run for {silence / 60:.0f} minutes."
                    self._fail(run_id, "NodeRunnerLost", message, states.LOST)
                elif silence > SILENT_AFTER:
                    reason = f"nothing was heard from the run for {silence:.0f} s"
                    self._apply(run_id, Fact(states.SILENT, reason=reason))
            except StoreError as error:
                if error.code != "run_not_found":
                    raise
                self.forget(run_id)

    def _fail(self, run_id: str, code: str, message: str, kind: str = states.ENDED) -> None:
        error = {"code": code, "message": message}
        self.report(run_id, Fact(kind, outcome="failed", error=error, reason=message))
