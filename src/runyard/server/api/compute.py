"""Routes of compute targets: making, finding, changing and removing them, and how they stand at this moment.

A run's token reads the targets of the run's own workspace. All else is the user's.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime, timezone

from fastapi import APIRouter
from starlette.responses import Response

from runyard.contracts import vm_sizes
from runyard.contracts.compute import LOCAL, Target
from runyard.engines.base import EngineAway, EngineError
from runyard.server.context import Context, ServerContext
from runyard.server.middleware import reach
from runyard.server.middleware.auth import AnyCaller, Caller, User, not_allowed
from runyard.server.middleware.problems import Problem
from runyard.server.requests import compute as compute_request
from runyard.server.requests.compute import NewTarget, TargetChange
from runyard.server.responses import documents
from runyard.server.responses.documents import Json, answer
from runyard.store.assets import compute
from runyard.store.errors import Conflict

router = APIRouter(prefix="/api/workspaces/{workspace}/compute", tags=["compute"])

NAMED = 3
"""Runs that a refusal names; the others are counted."""


@router.get("", summary="The compute targets of a workspace, `local` first")
def find(workspace: str, caller: AnyCaller, context: Context) -> Response:
    _may_read(context, caller, workspace)
    with context.store.database.read() as connection:
        targets = compute.find(connection, workspace)
    return answer({"targets": [_document(context, workspace, target) for target in targets]})


@router.post(
    "", status_code=201, summary="Make a compute target on this machine, or attach a cluster", dependencies=[User]
)
def create(workspace: str, body: NewTarget, context: Context) -> Response:
    target = compute_request.made(body, _now())
    with context.store.database.read() as connection:
        compute.must_be_free(connection, workspace, target.name)
    _ask_engine(context, target)
    with context.store.database.write() as connection:
        compute.create(connection, workspace, target)
    context.scheduler.target_changed(workspace, target.name)
    return answer(_document(context, workspace, target), 201)


@router.get("/{name}", summary="One compute target")
def get(workspace: str, name: str, caller: AnyCaller, context: Context) -> Response:
    _may_read(context, caller, workspace)
    return answer(_document(context, workspace, _target(context, workspace, name)))


@router.patch("/{name}", summary="Change how a compute target scales, or its options", dependencies=[User])
def update(workspace: str, name: str, body: TargetChange, context: Context) -> Response:
    before = _target(context, workspace, name)
    target = compute_request.changed(before, body, _now())
    if target.options != before.options:
        # Runs that are under way could not be found again through another address.
        _refuse_if_used(context, workspace, name, "changed")
        _ask_engine(context, target)
    with context.store.database.write() as connection:
        target = compute_request.changed(compute.get(connection, workspace, name), body, target.modified_at)
        compute.replace(connection, workspace, target)
    context.scheduler.target_changed(workspace, name)
    return answer(_document(context, workspace, target))


@router.delete("/{name}", summary="Remove a compute target; the cluster behind it stays", dependencies=[User])
def remove(workspace: str, name: str, context: Context) -> Response:
    if name == LOCAL:
        raise compute_request.refuse_local()
    target = _target(context, workspace, name)
    _refuse_if_used(context, workspace, name, "removed")
    gone = _document(context, workspace, target)
    with context.store.database.write() as connection:
        compute.remove(connection, workspace, name)
    context.scheduler.target_changed(workspace, name)
    return answer(gone)


@router.get("/{name}/nodes", summary="The nodes of a compute target, and the run on each")
def nodes(workspace: str, name: str, caller: AnyCaller, context: Context) -> Response:
    _may_read(context, caller, workspace)
    target = _target(context, workspace, name)
    with _refused_by(target, ""):
        found = context.scheduler.nodes(workspace, target)
    return answer({"nodes": [asdict(node) for node in found]})


def _document(context: ServerContext, workspace: str, target: Target) -> Json:
    return {
        **target.as_dict(),
        "status": context.scheduler.status(workspace, target).as_dict(),
        "provisioning_state": "Succeeded",
        "resources": asdict(vm_sizes.resources(target.vm_size)),
    }


def _target(context: ServerContext, workspace: str, name: str) -> Target:
    with context.store.database.read() as connection:
        return compute.get(connection, workspace, name)


def _may_read(context: ServerContext, caller: Caller, workspace: str) -> None:
    """Also where runs do not look beyond themselves: a child run needs a target."""
    if caller.run_id is not None and reach.workspace_of(context, caller) != workspace:
        raise not_allowed(caller.run_id, "A run's token reads the compute targets of its own workspace only.")


def _ask_engine(context: ServerContext, target: Target) -> None:
    """Refuse a target on which nothing could run."""
    with _refused_by(target, "Nothing was changed."):
        context.scheduler.check(target)


@contextmanager
def _refused_by(target: Target, help: str) -> Iterator[None]:
    """The objection of a target's engine, as a refusal."""
    try:
        yield
    except EngineAway as error:
        raise Problem("engine_away", str(error), f"{help} Try again when {target.engine} answers.".strip()) from None
    except EngineError as error:
        raise Problem("engine_refused", str(error), help) from None


def _refuse_if_used(context: ServerContext, workspace: str, name: str, how: str) -> None:
    held_by = context.scheduler.holders(workspace, name)
    if not held_by:
        return
    more = f" and {len(held_by) - NAMED} more" if len(held_by) > NAMED else ""
    raise Conflict(
        "compute_in_use",
        f"The compute target {name!r} cannot be {how} while runs are on it or wait for it: "
        f"{', '.join(held_by[:NAMED])}{more}.",
        f"Wait until they have ended, or stop them: `runyard stop {held_by[0]}`.",
        {"runs": held_by},
    )


def _now() -> str:
    return str(documents.timestamp(datetime.now(timezone.utc)))
