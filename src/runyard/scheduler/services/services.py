"""All services, and the events that drive them: a request, a report of a node runner, a run's end, the clock.

One thread works for all of them and is started with the first. All that it decides is stored before it is done, so a
server that is killed leaves nothing half known: the next one looks at each service, and goes on.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from runyard.contracts import states as run_states
from runyard.contracts.secrets import mask_all
from runyard.contracts.services import states
from runyard.scheduler.services import replicas as making
from runyard.scheduler.services.decision import Decision, Start, behind_gateway, decide, stopped
from runyard.scheduler.services.meters import Meter
from runyard.scheduler.services.scaling import Load, Scaler
from runyard.scheduler.transitions import Transitions
from runyard.scheduler.worker import RETRY_AFTER, Worker
from runyard.store.assets import services
from runyard.store.assets.services import Replica, Revision, Service
from runyard.store.content import deletion
from runyard.store.content.secrets import SecretMissing, Secrets
from runyard.store.errors import StoreError
from runyard.store.runs import runs
from runyard.store.runs.records import SERVICE, Run
from runyard.store.runs.runs import StateChange
from runyard.store.store import Store

log = logging.getLogger("runyard.scheduler")

Json = dict[str, Any]

KEPT_ENDED = 10
"""Runs of replicas that have ended which are kept for each service, with their logs."""

FIRST_PAUSE, LONGEST_PAUSE, FORGIVEN_AFTER = 0.5, 30.0, 60.0
"""Seconds before a replica is made anew whose run has failed, at most, and after which a failure counts no more."""


class Services:
    """Any thread may call. `submit` puts a run into its queue, `stop` asks one to stop and says why."""

    def __init__(
        self,
        store: Store,
        home: Path,
        secrets: Secrets | None,
        user_token: str,
        transitions: Transitions,
        submit: Callable[[Run], None],
        stop: Callable[[str, str], object],
        forget: Callable[[str], None],
        settled: Callable[[str], None],
    ) -> None:
        self._store, self._home, self._secrets, self._user_token = store, home, secrets, user_token
        self._submit, self._stop, self._forget, self._settled = submit, stop, forget, settled
        self._worker = Worker("services")
        self._of_run: dict[str, str] = {}  # ids of services, by the runs of their replicas
        self._meters: dict[str, Meter] = {}  # by run
        self._woken: set[str] = set()  # runs of gateways in which somebody waits for the first replica
        self._scalers: dict[tuple[str, str], Scaler] = {}
        self._stopping = False  # until the next server starts
        self._failures: dict[str, list[float]] = {}  # by service: when replicas failed that had served
        transitions.subscribe(self._run_changed)

    def start(self) -> None:
        """Look after what a former server has left."""
        with self._store.database.read() as connection:
            found = services.find(connection)
        for service in found:
            self.changed(service.id)

    def stop_all(self) -> int:
        """Stop all replicas until the next server starts; returns of how many services."""
        self._stopping = True
        with self._store.database.read() as connection:
            found = services.find(connection)
        for service in found:
            self.changed(service.id)
        return len(found)

    def any_live(self) -> bool:
        """Whether a replica of any service has not ended."""
        with self._store.database.read() as connection:
            found = services.find(connection)
            live = [each for service in found for each in services.replicas(connection, service)]
        return any(each.status not in run_states.TERMINAL for each in live)

    def close(self) -> None:
        self._worker.close()

    def changed(self, id: str, after: float = 0.0) -> None:
        """Something is wanted of a service, or was seen of it."""
        self._worker.post(partial(self._reconcile, id), f"service {id}", after)

    def reported(self, run_id: str, seen: Mapping[str, Any]) -> None:
        """The node runner of a replica has told how it stands."""
        id = self._service_of(run_id)
        if id is None:
            return
        told = seen.get("state")
        state = told if told in (states.READY, states.SICK, states.DRAINING) else states.STARTING
        with self._store.database.write() as connection:
            services.set_replica(connection, run_id, state, mask_all(dict(seen)))
        if state == states.READY:
            self._settled(run_id)
        self.changed(id)
        if seen.get("waiting"):  # somebody waits in a gateway for the first replica
            self._woken.add(run_id)
            self._worker.post(partial(self._scale, id), f"wake {id}")
        else:
            self._woken.discard(run_id)

    def write_access(self, service: Service) -> None:
        """Have the processes of a service know its keys."""
        if self._secrets is not None:
            making.write_access(self._home, service, self._secrets.value)

    # -- what the worker does -----------------------------------------------------------------------------------------

    def _reconcile(self, id: str) -> None:
        with self._store.database.read() as connection:
            service = services.by_id(connection, id)
            if service is None:
                return
            revisions = {each.number: each for each in services.revisions(connection, service)}
            found = services.replicas(connection, service)
        self._of_run.update({each.run_id: id for each in found})
        decision = decide(service, revisions, found)
        if self._stopping and service.state != states.DELETING:
            decision = stopped(found)
        if decision.gone:
            self._remove(service, found)
            return
        if decision.start and (pause := self._pause(service, found)) > 0:
            decision.start = []
            self.changed(id, pause)
        made = self._apply(service, revisions, found, decision)
        try:
            self.write_access(service)
            making.write_routes(self._home, service, found)
        except (SecretMissing, OSError) as error:
            log.error("the keys or routes of the service %s cannot be written: %s", service.name, error)
            self.changed(id, RETRY_AFTER)
        for run in made:
            self._submit(run)
        for run_id, why in decision.stop.items():
            self._stop(run_id, why)
        if decision.promote or decision.refuse:
            self.changed(id)  # what follows from it, such as replicas that are stopped now
        self._prune(service, found)
        if service.settings.autoscale.enabled:
            self._worker.post(partial(self._scale, id), f"scale {id}", service.settings.autoscale.refresh_seconds)

    def _apply(
        self, service: Service, revisions: Mapping[int, Revision], found: list[Replica], decision: Decision
    ) -> list[Run]:
        """Store what was decided, in one transaction; returns the runs that are to be started."""
        operation = service.operation
        for text in _steps(service, found, decision):
            operation = services.with_step(operation, text)
        if operation["state"] == states.RUNNING:
            if decision.refuse:
                _, error = next(iter(decision.refuse.values()))
                operation = {**services.with_step(operation, "Failed"), "state": states.FAILED, "error": error}
            elif decision.finished:
                operation = {**services.with_step(operation, "Succeeded"), "state": states.SUCCEEDED}
        quiet = (decision.state, decision.error, operation) == (service.state, service.error, service.operation)
        ended = [each for each in found if each.status in run_states.TERMINAL and each.state != states.GONE]
        if quiet and not (decision.start or decision.promote or decision.refuse or ended):
            return []
        made: list[Run] = []
        with self._store.database.write() as connection:
            for each in ended:
                services.set_replica(connection, each.run_id, states.GONE)
            for version, number in decision.promote.items():
                before = service.version(version)
                services.set_version(connection, service, version, current=number, wanted=number)
                services.set_revision(connection, service, number, states.CURRENT)
                if before is not None and before.current is not None:
                    services.set_revision(connection, service, before.current, states.SUPERSEDED)
            for version, (number, error) in decision.refuse.items():
                before = service.version(version)
                if before is not None and before.current is not None:
                    services.set_version(connection, service, version, wanted=before.current)
                services.set_revision(connection, service, number, states.REFUSED, str(error.get("message")))
            for start in decision.start:
                made.append(self._make(connection, service, revisions, start, len(found) + len(made)))
            service = services.change(
                connection, service, state=decision.state, error=decision.error, operation=operation
            )
            services.note_uses(connection, service)
        return made

    def _make(
        self, connection: Any, service: Service, revisions: Mapping[int, Revision], start: Start, number: int
    ) -> Run:
        new = making.new_run(self._home, service, revisions[start.revision], start, number, self._user_token)
        run = runs.create(connection, new)
        services.add_replica(connection, service, run.id, start.version, start.revision, start.role)
        self._of_run[run.id] = service.id
        return run

    def _pause(self, service: Service, found: list[Replica]) -> float:
        """Seconds to wait before replicas are made in the place of such that have failed."""
        now = time.monotonic()
        failures = [at for at in self._failures.get(service.id, []) if now - at < FORGIVEN_AFTER]
        for each in found:
            if each.status == run_states.FAILED and each.state != states.GONE:
                failures.append(now)
        self._failures[service.id] = failures
        if not failures:
            return 0.0
        due = failures[-1] + min(FIRST_PAUSE * 2.0 ** (len(failures) - 1), LONGEST_PAUSE)
        return max(0.0, due - now)

    def _scale(self, id: str) -> None:
        """Give each version of a service as many replicas as its load needs."""
        with self._store.database.read() as connection:
            service = services.by_id(connection, id)
            if service is None or not service.settings.autoscale.enabled or service.state == states.DELETING:
                return
            revisions = {each.number: each for each in services.revisions(connection, service)}
            found = services.replicas(connection, service)
        scale, changes = service.settings.autoscale, {}
        for version in service.versions:
            number = version.current
            if number is None:
                continue
            settings = revisions[number].settings
            load = self._load(service, revisions[number], version.name, found)
            key = (id, version.name)
            scaler = self._scalers.setdefault(key, Scaler(version.replicas, time.monotonic()))
            wanted = scaler.replicas(load, settings.concurrency * settings.workers, scale, time.monotonic())
            if wanted != version.replicas:
                changes[version.name] = wanted
        if changes:
            with self._store.database.write() as connection:
                for name, wanted in changes.items():
                    services.set_version(connection, service, name, replicas=wanted)
            self.changed(id)
        self._worker.post(partial(self._scale, id), f"scale {id}", scale.refresh_seconds)

    def _load(self, service: Service, revision: Revision, version: str, found: list[Replica]) -> Load:
        """What the replicas of a version have to do. Where a gateway is in front of them, it knows all of it."""
        role = states.GATEWAY if behind_gateway(service, revision) else states.WORKER
        live = [each.run_id for each in found if each.role == role and each.status not in run_states.TERMINAL]
        if role == states.WORKER:
            live = [each.run_id for each in found if each.run_id in live and each.version == version]
        folders = self._home / "runs"
        loads = [self._meters.setdefault(each, Meter(folders / each)).load(version) for each in live]
        waiting = sum(each.waiting for each in loads)
        if any(each in self._woken for each in live):
            waiting = max(1.0, waiting)
        return Load(sum(each.busy for each in loads), waiting)

    def _remove(self, service: Service, found: list[Replica]) -> None:
        """Nothing of a service runs any more: forget its runs, its keys, its folder, and itself last, so that a server
        which is killed on the way leaves nothing that nobody knows of."""
        freed = [each.run_id for each in found]
        try:
            if freed:
                deletion.delete_runs(self._store, freed)
        except StoreError as error:
            log.warning("the runs of the service %s were not deleted: %s", service.name, error)
        for run_id in freed:
            self._forget(run_id)
            self._of_run.pop(run_id, None)
            self._meters.pop(run_id, None)
        for name in service.keys.values():
            if self._secrets is not None:
                self._secrets.forget(name)
        making.remove_folder(self._home, service)
        self._failures.pop(service.id, None)
        for key in [key for key in self._scalers if key[0] == service.id]:
            del self._scalers[key]
        with self._store.database.write() as connection:
            services.remove(connection, service)

    def _prune(self, service: Service, found: list[Replica]) -> None:
        """Delete the oldest runs of replicas that are over."""
        over = [each.run_id for each in found if each.status in run_states.TERMINAL and each.state == states.GONE]
        for run_id in over[: max(0, len(over) - KEPT_ENDED)]:
            try:
                deletion.delete_runs(self._store, [run_id])
            except StoreError as error:
                log.warning("%s was not deleted: %s", run_id, error)
                continue
            self._forget(run_id)
            self._of_run.pop(run_id, None)

    # -- events -------------------------------------------------------------------------------------------------------

    def _run_changed(self, run: Run, change: StateChange) -> None:
        if run.kind != SERVICE:
            return
        if run.ended:
            self._meters.pop(run.id, None)
            self._woken.discard(run.id)
        id = self._service_of(run.id)
        if id is not None:
            self.changed(id)

    def _service_of(self, run_id: str) -> str | None:
        known = self._of_run.get(run_id)
        if known is None:
            with self._store.database.read() as connection:
                known = services.service_of_run(connection, run_id)
            if known is not None:
                self._of_run[run_id] = known
        return known


def _steps(service: Service, found: list[Replica], decision: Decision) -> list[str]:
    """What can be said of the progress of what is being done."""
    if service.operation["state"] != states.RUNNING:
        return []
    said = []
    wanted = {number for each in service.versions for number in [each.wanted] if number is not None}
    for each in found:
        if each.revision in wanted and each.status in (run_states.PREPARING, run_states.RUNNING) and each.reason:
            if each.state == states.STARTING:
                said.append(f"{each.run_id}: {each.reason}")
            elif each.state == states.SICK and each.seen.get("error"):
                said.append(f"{each.run_id}: {str(each.seen['error'].get('message')).splitlines()[0]}")
            elif each.state == states.READY:
                said.append(f"{each.run_id}: ready")
    for start in decision.start:
        what = "a gateway" if start.role == states.GATEWAY else f"a replica of revision {start.revision}"
        said.append(f"Starting {what}")
    for version, number in decision.promote.items():
        said.append(f"Revision {number} serves now" + (f" as {version}" if version else ""))
    known = {step["text"] for step in service.operation.get("steps", ())}
    return [each for each in said if each not in known]
