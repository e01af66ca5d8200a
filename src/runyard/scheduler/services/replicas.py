"""From a revision to a run: the replica's launch, and the files in the service's folder that its processes share."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from runyard.contracts.compute import LOCAL
from runyard.contracts.environment import Specification
from runyard.contracts.home import write_private
from runyard.contracts.services import states
from runyard.contracts.services.access import Access, hash_of
from runyard.contracts.services.plan import ACCESS, ROUTES, Route, Routes, ServicePlan
from runyard.contracts.services.settings import NO_KEY
from runyard.scheduler.services.decision import Start, behind_gateway
from runyard.store.assets.services import Replica, Revision, Service
from runyard.store.runs.records import SERVICE, NewRun

Json = dict[str, Any]

TYPE = "runyard.service"
"""The type of the runs that are replicas."""

PROPERTY = "runyard.service"
"""The property of a replica's run that names its service."""

PRIVATE_HOST = "127.0.0.1"


def folder(home: Path, service: Service) -> Path:
    return home / "services" / service.id


def new_run(home: Path, service: Service, revision: Revision, start: Start, number: int, user_token: str) -> NewRun:
    """The run of a replica. It is made and stored before anything is started for it."""
    gateway = start.role == states.GATEWAY
    unique = os.urandom(4).hex()
    part = "gateway" if gateway else f"{start.version}_{revision.number}" if start.version else str(revision.number)
    return NewRun(
        id=f"service_{service.name}_{part}_{unique}",
        workspace=service.workspace,
        experiment=states.EXPERIMENT,
        reason="made",
        kind=SERVICE,
        type=TYPE,
        display_name=f"{service.name}, {'gateway' if gateway else f'revision {revision.number}'}",
        properties={PROPERTY: service.name, f"{PROPERTY}.revision": str(revision.number)},
        target=LOCAL,
        snapshot_id=None if gateway else revision.snapshot_id,
        launch=_launch(home, service, revision, start, number, user_token),
    )


def _launch(home: Path, service: Service, revision: Revision, start: Start, number: int, user_token: str) -> Json:
    here = folder(home, service)
    gateway = start.role == states.GATEWAY
    private = not gateway and behind_gateway(service, revision)
    place = here / "versions" / (start.version or "main") / "listener" if private else here / "listener"
    plan = ServicePlan(
        service=service.name,
        folder=str(here),
        listener=str(place),
        revision=revision.number,
        host=PRIVATE_HOST if private else service.settings.host,
        port=0 if private else service.port,
        settings=revision.settings,
        role=start.role,
        version=start.version,
        replica=number,
        models=[] if gateway else revision.models,
        entry_script=None if gateway else revision.launch.get("entry_script"),
        source_directory="" if gateway else str(revision.launch.get("source_directory") or ""),
        user_token_hash=hash_of(user_token) if user_token else "",
    )
    common: Json = {"service": plan.as_dict(), "output_collection": False, "restarts": 0}
    if gateway:
        own = Specification(user_managed=True, interpreter=sys.executable)
        return {**common, "interpreter": sys.executable, "environment": own.as_dict()}
    shared = {name: revision.launch[name] for name in ("environment", "interpreter", "shell", "container", "notes")}
    variables = dict(revision.settings.environment_variables)
    return {**common, **shared, "environment_variables": variables, "directories_to_watch": []}


def write_access(home: Path, service: Service, secret_of: Callable[[str], str]) -> None:
    """Have the processes of a service know its keys, as hashes, and what its tokens are signed with."""
    if service.settings.authentication == NO_KEY:
        access = Access()
    else:
        keys = [hash_of(secret_of(service.keys[each])) for each in ("primary", "secondary")]
        access = Access(keys, secret_of(service.keys["signing"]))
    _write(folder(home, service) / ACCESS, access.as_dict())


def write_routes(home: Path, service: Service, replicas: Sequence[Replica]) -> None:
    """Have the gateway of a service know where its versions listen, and what part of the requests each gets."""
    _write(folder(home, service) / ROUTES, routes(service, replicas).as_dict())


def routes(service: Service, replicas: Sequence[Replica]) -> Routes:
    """What the shares leave of 100 goes to the default version, beside its own."""
    others = sum(each.traffic for each in service.versions if not each.is_default)
    found = []
    for version in service.versions:
        share = max(0.0, 100.0 - others) if version.is_default else version.traffic
        ready = [
            each
            for each in replicas
            if each.version == version.name and each.role == states.WORKER and each.ready and each.seen.get("port")
        ]
        port = int(ready[-1].seen["port"]) if ready else 0
        found.append(Route(version.name, share, PRIVATE_HOST, port))
    settings = service.settings
    return Routes(found, settings.authentication, settings.allow_unauthenticated, settings.cors_origins)


def remove_folder(home: Path, service: Service) -> None:
    shutil.rmtree(folder(home, service), ignore_errors=True)


def _write(path: Path, document: Json) -> None:
    text = json.dumps(document)
    try:
        if path.read_text("utf-8") == text:
            return
    except (OSError, UnicodeDecodeError):
        pass
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_private(path, text)
