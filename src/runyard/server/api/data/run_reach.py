"""What a run that is narrowed to itself (`runs.scope = run`) reaches of datastores: the folders that its outputs go to,
and the databases that its inputs are read from. All other callers reach what `reach.within` lets them.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool

from runyard.contracts.data import datasets as contract
from runyard.contracts.data.outputs import Output
from runyard.server.context import ServerContext, context_of
from runyard.server.middleware import reach
from runyard.server.middleware.auth import Caller, caller
from runyard.store.assets import datasets
from runyard.store.runs import runs


async def within_outputs(workspace: str, name: str, request: Request) -> str:
    """The workspace that the path names, when the caller may use the path that it asks for in the datastore `name`."""
    who = await caller(request)
    if who.run_id is not None:
        of_itself = request.scope["route"].path.endswith("/{name}")  # the datastore, and nothing in it
        asked = None if of_itself else request.query_params.get("path") or request.query_params.get("below") or ""
        await run_in_threadpool(_must_reach, context_of(request), who, workspace, name, asked)
    return workspace


async def within_inputs(workspace: str, name: str, request: Request) -> str:
    """The workspace that the path names, when the caller may read rows of the database `name`."""
    who = await caller(request)
    if who.run_id is not None:
        await run_in_threadpool(_must_read, context_of(request), who, workspace, name)
    return workspace


WithinOutputs = Annotated[str, Depends(within_outputs)]
WithinInputs = Annotated[str, Depends(within_inputs)]


def _must_reach(context: ServerContext, who: Caller, workspace: str, name: str, asked: str | None) -> None:
    outputs = [Output.from_dict(each) for each in _launch(context, who, workspace).get("outputs") or ()]
    for output in outputs:
        if output.datastore.lower() == name.lower():
            folder = output.folder(str(who.run_id))
            path = contract.normal(asked or "")
            inside = not folder or path == folder or path.startswith(f"{folder}/")
            if asked is None or (inside and ".." not in path.split("/")):
                return
    reach.must_be_within(context, who, workspace)


def _must_read(context: ServerContext, who: Caller, workspace: str, name: str) -> None:
    for each in _launch(context, who, workspace).get("inputs") or ():
        with context.store.database.read() as connection:
            definition = datasets.get(connection, workspace, str(each["dataset"])).definition
        if name.lower() in [str(source.get("datastore")).lower() for source in definition["sources"]]:
            return
    reach.must_be_within(context, who, workspace)


def _launch(context: ServerContext, who: Caller, workspace: str) -> dict[str, Any]:
    """What the caller's run was given, if it belongs to the workspace and has not ended."""
    with context.store.database.read() as connection:
        run = runs.look_up(connection, str(who.run_id))
        if run is None or run.workspace != workspace or run.ended:
            return {}
        return runs.definition_and_launch(connection, run.id)[1] or {}
