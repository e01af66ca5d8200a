"""What is to be done for a service now: a pure function of what is stored of it.

Each version has the revision that serves and the one that is wanted. Where they differ, the wanted one is brought up
beside the other, takes its place once as many replicas are ready as are needed, and is given up when one of them
cannot start; the old one serves all the while.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from runyard.contracts import states as run_states
from runyard.contracts.services import states
from runyard.store.assets.services import Replica, Revision, Service, Version

Json = dict[str, Any]

LEAVING = frozenset({run_states.CANCEL_REQUESTED, run_states.FINALIZING})


@dataclass(frozen=True)
class Start:
    version: str
    revision: int
    role: str = states.WORKER


@dataclass
class Decision:
    start: list[Start] = field(default_factory=list)
    stop: dict[str, str] = field(default_factory=dict)  # runs, and why
    promote: dict[str, int] = field(default_factory=dict)  # revisions that serve from now on, by version
    refuse: dict[str, tuple[int, Json]] = field(default_factory=dict)  # revisions that are given up, and why
    state: str = states.TRANSITIONING
    error: Json | None = None
    finished: bool = False  # what was asked for has been done
    gone: bool = False  # nothing is left of a service that is to be removed


def decide(service: Service, revisions: Mapping[int, Revision], replicas: Sequence[Replica]) -> Decision:
    made = Decision()
    live = [each for each in replicas if each.status not in run_states.TERMINAL]
    staying = [each for each in live if each.status not in LEAVING]
    if service.state == states.DELETING:
        made.state = states.DELETING
        made.stop = {each.run_id: "the service is removed" for each in staying}
        made.gone = not live
        return made
    known = {each.name for each in service.versions}
    for each in staying:
        if each.role == states.WORKER and each.version not in known:
            made.stop[each.run_id] = "its version was removed"
    for version in service.versions:
        ended = [each for each in replicas if each.version == version.name and each not in live]
        _version(made, version, revisions, [each for each in staying if each.version == version.name], ended)
    _gateway(made, service, revisions, staying)
    _state(made, service, revisions, staying)
    # Until the last worker of the old revision takes no more connections, it may be the one that answers.
    made.finished = made.finished and not _still_answering(made, service, live)
    return made


def stopped(replicas: Sequence[Replica]) -> Decision:
    """What is to be done for a service that is stopped with its server: it comes back with the next one."""
    staying = [each for each in replicas if each.status not in (*run_states.TERMINAL, *LEAVING)]
    return Decision(state=states.STOPPED, stop={each.run_id: "stopped with the server" for each in staying})


def behind_gateway(service: Service, revision: Revision) -> bool:
    """Whether the processes of a revision have a gateway in front of them."""
    return service.kind == states.ENDPOINT or revision.settings.on_demand


def _version(
    made: Decision,
    version: Version,
    revisions: Mapping[int, Revision],
    staying: Sequence[Replica],
    ended: Sequence[Replica],
) -> None:
    workers = [each for each in staying if each.role == states.WORKER]
    wanted, current = version.wanted, version.current
    in_use = {wanted, current}
    if wanted is not None and wanted != current and revisions[wanted].state != states.REFUSED:
        of_wanted = [each for each in workers if each.revision == wanted]
        failed = [
            each
            for each in ended
            if each.revision == wanted and each.role == states.WORKER and each.state != states.GONE
        ]
        count = max(1, version.replicas)
        if failed:
            made.refuse[version.name] = (wanted, failed[0].error or _stopped(failed[0]))
            in_use = {current}
        elif sum(each.ready for each in of_wanted) >= count:
            made.promote[version.name] = wanted
            in_use = {wanted}
        else:
            made.start += [Start(version.name, wanted)] * (count - len(of_wanted))
    if current is not None and current in in_use:
        _keep_up(made, version, current, [each for each in workers if each.revision == current])
    for each in workers:
        if each.revision not in in_use:
            others = [number for number in in_use if number is not None]
            made.stop[each.run_id] = f"revision {max(others)} has taken its place" if others else "it is not used"


def _keep_up(made: Decision, version: Version, current: int, workers: Sequence[Replica]) -> None:
    missing = version.replicas - len(workers)
    made.start += [Start(version.name, current)] * max(0, missing)
    if missing < 0:
        # Those that do not answer go first, and of the others the youngest.
        spare = sorted(enumerate(workers), key=lambda each: (each[1].ready, -each[0]))
        for _, each in spare[:-missing]:
            made.stop[each.run_id] = f"{version.replicas} replicas will do"


def _gateway(made: Decision, service: Service, revisions: Mapping[int, Revision], staying: Sequence[Replica]) -> None:
    there = [each for each in staying if each.role == states.GATEWAY]
    in_use = [
        revisions[number]
        for version in service.versions
        for number in (version.current, version.wanted)
        if number is not None and revisions[number].state != states.REFUSED
    ]
    wanted = any(behind_gateway(service, each) for each in in_use)
    if wanted and not there:
        made.start.append(Start("", max(each.number for each in in_use), states.GATEWAY))
    for each in there[1:] if wanted else there:
        made.stop[each.run_id] = "another gateway is there" if wanted else "the service needs no gateway any more"


def _state(made: Decision, service: Service, revisions: Mapping[int, Revision], staying: Sequence[Replica]) -> None:
    refused = next(iter(made.refuse.values()), None)
    never = [each for each in service.versions if each.current is None and each.name not in made.promote]
    dead = [each for each in never if each.name in made.refuse or _is_refused(revisions, each)]
    sick = [each for each in staying if each.state == states.SICK and each.run_id not in made.stop]
    made.error = next((each.seen.get("error") for each in sick), None)
    settled = all(
        version.name in made.promote or (version.wanted == version.current and _is_up(version, staying))
        for version in service.versions
    )
    gateways = [each for each in staying if each.role == states.GATEWAY]
    behind = any(each.role == states.GATEWAY for each in made.start)
    made.finished = settled and not behind and all(each.ready for each in gateways)
    if dead and len(dead) == len(service.versions):
        made.state = states.FAILED
        made.error = refused[1] if refused is not None else service.error
        return
    woken = service.settings.on_demand and bool(gateways)  # requests wait in the gateway until there is a replica
    answering = woken or all(_answers(version, staying) or version in dead for version in service.versions)
    if sick:
        made.state = states.UNHEALTHY
    elif service.operation["state"] == states.RUNNING and not made.finished and refused is None:
        made.state = states.TRANSITIONING
    elif answering or made.finished:
        made.state = states.HEALTHY
    else:
        made.state = states.UNHEALTHY
        made.error = {"code": "NoReplica", "message": "No replica of the service is ready; one is being started."}


def _still_answering(made: Decision, service: Service, live: Sequence[Replica]) -> bool:
    """Whether a worker of a revision or version that is not used any more takes requests."""
    used = {(each.name, made.promote.get(each.name, each.current)) for each in service.versions}
    return any(
        each.role == states.WORKER
        and (each.version, each.revision) not in used
        and each.state not in (states.DRAINING, states.GONE)
        for each in live
    )


def _is_refused(revisions: Mapping[int, Revision], version: Version) -> bool:
    return version.wanted is not None and revisions[version.wanted].state == states.REFUSED


def _is_up(version: Version, staying: Sequence[Replica]) -> bool:
    return version.current is not None and _ready(version, staying) >= version.replicas


def _answers(version: Version, staying: Sequence[Replica]) -> bool:
    return version.replicas == 0 or _ready(version, staying) > 0


def _ready(version: Version, staying: Sequence[Replica]) -> int:
    mine = [each for each in staying if each.version == version.name and each.role == states.WORKER]
    return sum(each.ready for each in mine if each.revision in (version.current, version.wanted))


def _stopped(replica: Replica) -> Json:
    return {
        "code": "ReplicaStopped",
        "message": f"The run {replica.run_id} of the new revision ended before it was ready: {replica.reason}.",
    }
