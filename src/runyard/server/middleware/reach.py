"""What a run's token reaches. The user's token reaches everything.

| a run's token       | itself | below it | above it | others of its workspace | all else |
|---------------------|--------|----------|----------|-------------------------|----------|
| leads (facts, logs) | yes    | yes      |          |                         |          |
| writes              | yes    | yes      | yes      |                         |          |
| reads               | yes    | yes      | yes      | yes                     |          |

*Below* a run are its descendants, the runs that it has submitted, and what is below those. In its workspace a run also
registers things and submits runs. A workspace whose `runs.scope` is `run` narrows all that to a run and what is below
it, and to reading a run that it was started to resume. So does a run's end, but for what was written to runs above it
before, and arrives late.

Every route that a run's token may use names which of these it needs; the others need the user's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool

from runyard.contracts.plan import RESUMES
from runyard.server.context import ServerContext, context_of
from runyard.server.middleware.auth import Caller, caller, not_allowed
from runyard.store.runs import experiments, family, runs, workspace_settings


@dataclass(frozen=True)
class Home:
    """Where the run of a token belongs. `scope` is whether its workspace lets it look beyond itself, `wide` whether it
    may still do so: a run that has ended may not."""

    workspace: str
    scope: bool
    wide: bool


# -- dependencies of routes -------------------------------------------------------------------------------------------


async def own(run_id: str, request: Request) -> str:
    """The run that the path names, when it is the caller's own: what no other run may see, whatever they share."""
    return await _checked(request, run_id, _never)


async def led(run_id: str, request: Request) -> str:
    """The run that the path names, when the caller may speak for it: its own, or one below."""
    return await _checked(request, run_id, _may_lead)


async def written(run_id: str, request: Request) -> str:
    """The run that the path names, when the caller may write to it."""
    return await _checked(request, run_id, _may_write)


async def read(run_id: str, request: Request) -> str:
    """The run that the path names, when the caller may read it."""
    return await _checked(request, run_id, _may_read)


async def seen(run_id: str, request: Request) -> str:
    """The same for what a run goes on to add to: what it has by now is delivered before it is read."""
    await _checked(request, run_id, _may_read)
    await context_of(request).pace.look(run_id)
    return run_id


async def within(workspace: str, request: Request) -> str:
    """The workspace that the path names, when the caller may read it and register things in it."""
    who = await caller(request)
    if who.run_id is not None:
        await run_in_threadpool(must_be_within, context_of(request), who, workspace)
    return workspace


async def within_experiments(id: str, request: Request) -> str:
    """The experiment that the path names, when the caller may read its workspace."""
    who = await caller(request)
    if who.run_id is not None:
        await run_in_threadpool(_must_read_experiment, context_of(request), who.run_id, id)
    return id


OwnRun = Annotated[str, Depends(own)]
LedRun = Annotated[str, Depends(led)]
WrittenRun = Annotated[str, Depends(written)]
ReadRun = Annotated[str, Depends(read)]
SeenRun = Annotated[str, Depends(seen)]
Within = Annotated[str, Depends(within)]
ReadExperiment = Annotated[str, Depends(within_experiments)]


# -- for routes that know more than their path ------------------------------------------------------------------------


def may_lead(context: ServerContext, caller: Caller, run_id: str) -> bool:
    """Whether the caller may speak for a run, and see what it was handed."""
    if caller.run_id in (None, run_id):
        return True
    with context.store.database.read() as connection:
        return _may_lead(connection, str(caller.run_id), run_id)


def must_lead(context: ServerContext, caller: Caller, run_id: str) -> None:
    _must(context, caller, run_id, _may_lead)


def must_write(context: ServerContext, caller: Caller, run_id: str) -> None:
    _must(context, caller, run_id, _may_write)


def must_read(context: ServerContext, caller: Caller, run_id: str) -> None:
    _must(context, caller, run_id, _may_read)


def must_be_within(context: ServerContext, caller: Caller, workspace: str | None) -> None:
    """Refuse all workspaces but the caller's own, and that one too where it may not look beyond itself."""
    if caller.run_id is None:
        return
    with context.store.database.read() as connection:
        home = home_of(connection, caller.run_id)
    if home is None or not home.wide or home.workspace != workspace:
        raise not_allowed(caller.run_id, f"This token does not reach the workspace {workspace!r} with this request.")


def workspace_of(context: ServerContext, caller: Caller) -> str | None:
    """The workspace of the caller's run; None when the run is not there, and for the user."""
    if caller.run_id is None:
        return None
    with context.store.database.read() as connection:
        home = home_of(connection, caller.run_id)
    return None if home is None else home.workspace


def home_of(connection: Connection, run_id: str) -> Home | None:
    """None when the run is not there: its token is good for nothing any more."""
    run = runs.look_up(connection, run_id)
    if run is None:
        return None
    scope = workspace_settings.whole_workspace(workspace_settings.find(connection, run.workspace))
    return Home(run.workspace, scope, scope and not run.ended)


# -- the rules --------------------------------------------------------------------------------------------------------

Rule = Callable[[Connection, str, str], bool]
"""Whether the run of a token (the first id) may do something with another one (the second)."""


def _never(connection: Connection, by: str, run_id: str) -> bool:
    return False


def _may_lead(connection: Connection, by: str, run_id: str) -> bool:
    return by in family.above(connection, run_id)


def _may_write(connection: Connection, by: str, run_id: str) -> bool:
    if _may_lead(connection, by, run_id):
        return True
    home = home_of(connection, by)
    return home is not None and home.scope and run_id in runs.ancestors(connection, by)


def _may_read(connection: Connection, by: str, run_id: str) -> bool:
    if _may_lead(connection, by, run_id):
        return True
    home = home_of(connection, by)
    if home is not None and not home.wide:
        return _resumes(connection, by, run_id)
    other = runs.look_up(connection, run_id) if home is not None else None
    return home is not None and other is not None and other.workspace == home.workspace


def _resumes(connection: Connection, by: str, run_id: str) -> bool:
    """Whether a run was started to go on from another one: it reads that one's outputs, whatever its scope."""
    _, launch = runs.definition_and_launch(connection, by)
    return (launch or {}).get(RESUMES) == run_id


async def _checked(request: Request, run_id: str, rule: Rule) -> str:
    who = await caller(request)
    if who.run_id not in (None, run_id):  # nothing is looked up for a run that speaks of itself
        await run_in_threadpool(_must, context_of(request), who, run_id, rule)
    return run_id


def _must(context: ServerContext, caller: Caller, run_id: str, rule: Rule) -> None:
    """Refuse a run that is out of reach. One that is not there is no different: a token reveals nothing about runs of
    other workspaces."""
    if caller.run_id in (None, run_id):
        return
    with context.store.database.read() as connection:
        allowed = rule(connection, str(caller.run_id), run_id)
    if not allowed:
        raise not_allowed(str(caller.run_id), f"This token does not reach {run_id!r} with this request.")


def _must_read_experiment(context: ServerContext, by: str, id: str) -> None:
    with context.store.database.read() as connection:
        home = home_of(connection, by)
        found = experiments.look_up(connection, id)
    if home is None or not home.wide or found is None or found.workspace != home.workspace:
        raise not_allowed(by, f"This token does not reach the experiment {id!r} with this request.")
