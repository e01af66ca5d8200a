"""The plans for the node runners of a run: one for each node, the same but for the node's number."""

from __future__ import annotations

import importlib.util
import secrets as random
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from runyard.contracts import vm_sizes
from runyard.contracts.compute import LOCAL_ENGINE, Resources, Target
from runyard.contracts.plan import RESUMES, Launch, Plan
from runyard.engines.base import Gang
from runyard.scheduler.plan_secrets import reveal
from runyard.store.content import snapshots
from runyard.store.content.secrets import Secrets
from runyard.store.runs import runs, workspace_settings, workspaces
from runyard.store.runs.runs import Run
from runyard.store.store import Store


@dataclass(frozen=True)
class Surroundings:
    """What a node runner must know of the server that sends it."""

    home: Path
    server_url: Callable[[], str]
    token_for: Callable[[str], str]
    sdk_folder: Callable[[], Path]
    secret_of: Callable[[str], str]  # the value of a secret by its name
    grace_seconds: float = 10.0
    secrets: Secrets | None = None  # the values of the keys of services
    user_token: str = ""  # whose holder is shown the errors of services in full


def gang(store: Store, around: Surroundings, run: Run, target: Target) -> Gang:
    """The node runners of a run's next attempt. SecretMissing when a secret of the run is not there any more."""
    with store.database.look() as connection:
        workspace = workspaces.get(connection, run.workspace)
        _, launch = runs.definition_and_launch(connection, run.id)
        manifest = snapshots.manifest_text(connection, run.snapshot_id) if run.snapshot_id else None
        settings = workspace_settings.find(connection, run.workspace)
        launch = _with_manifests(connection, launch or {})
    revealed, secrets = reveal(launch, around.secret_of)
    first = Plan(
        run_id=run.id,
        root_run_id=run.root_id,
        experiment=run.experiment,
        experiment_id=run.experiment_id,
        workspace=workspace.name,
        subscription_id=workspace.subscription_id,
        resource_group=workspace.resource_group,
        target=run.target,
        target_type=target.type,
        token=around.token_for(run.id),
        server_url=around.server_url(),
        launch=Launch.from_dict(revealed),
        snapshot_id=run.snapshot_id,
        server_file=str(around.home / "server.json"),
        objects=str(store.objects.folder),
        sdk=str(around.sdk_folder()),
        grace_seconds=around.grace_seconds,
        environments=str(around.home / "environments"),
        environments_limit=workspace_settings.limit(settings),
        relax=workspace_settings.relax(settings),
        real_horovod=workspace_settings.real_horovod(settings),
        secrets=secrets,
        attempt=run.attempt,
        resumes=str((launch or {}).get(RESUMES, "")),
        link=random.token_hex(16),
        data_cache=str(around.home / "data-cache"),
        data_limit=workspace_settings.data_limit(settings),
        mount_python=mount_python(),
        lazy_above=workspace_settings.lazy_above(settings),
        observe=workspace_settings.observed(settings),
    )
    plans = [replace(first, node=node) for node in range(run.nodes)]
    if target.engine != LOCAL_ENGINE:
        return Gang(plans, manifest, vm_sizes.resources(target.vm_size))
    if target.vm_size:
        plans[0] = replace(first, launch=replace(first.launch, notes=[*first.launch.notes, _wish(target)]))
    return Gang(plans, manifest, Resources())


def _with_manifests(connection: Connection, launch: dict[str, Any]) -> dict[str, Any]:
    """The launch of a replica with the manifests of its models, so that its node need not ask for them."""
    models = (launch.get("service") or {}).get("models")
    if not models:
        return launch
    known = [{**each, "manifest": snapshots.manifest_text(connection, each["tree"]).decode("utf-8")} for each in models]
    return {**launch, "service": {**launch["service"], "models": known}}


@lru_cache(maxsize=1)
def mount_python() -> str:
    """The interpreter for the processes of lazy mounts: the server's, where it has what they need; empty otherwise."""
    return sys.executable if importlib.util.find_spec("mfusepy") is not None else ""


def _wish(target: Target) -> str:
    """A size is a request to a cluster. On this machine it has no effect, and a note in the log mentions that once."""
    size = vm_sizes.find(target.vm_size)
    meaning = f" ({size})" if size is not None else ""
    return f"{target.name} stands for {target.vm_size}{meaning}; on this machine its nodes use what the machine has"
