"""Routes of retention: what would be dropped of old runs, and dropping it now."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from runyard.server.context import Context
from runyard.server.middleware.auth import User
from runyard.server.responses.documents import Json, answer
from runyard.store.content import retention
from runyard.store.content.retention import Amount
from runyard.store.runs import workspace_settings

router = APIRouter(prefix="/api/workspaces/{workspace}/retention", tags=["workspaces"], dependencies=[User])

Age = Annotated[str | None, Query(description="an age such as 90d in place of what is set")]


@router.get("", summary="What is dropped of old runs, and what that would free now")
def show(workspace: str, context: Context, logs: Age = None, series: Age = None) -> Response:
    given = {retention.LOGS: logs, retention.SERIES: series}
    with context.store.database.read() as connection:
        settings = workspace_settings.find(connection, workspace)
        for kind, age in given.items():
            if age is not None:
                key = f"retention.{kind}"
                settings[key] = workspace_settings.checked(key, age)
        ages = retention.ages(settings)
        due = {kind: retention.would_free(connection, workspace, kind, age) for kind, age in ages.items()}
    return answer(
        {
            "ages": {kind: settings[f"retention.{kind}"] for kind in retention.KINDS},
            "due": {kind: _amount(due.get(kind, Amount())) for kind in retention.KINDS},
        }
    )


@router.post("", summary="Drop what is due, of some runs at a time")
def apply(workspace: str, context: Context) -> Response:
    store = context.store
    with store.database.read() as connection:
        ages = retention.ages(workspace_settings.find(connection, workspace))
    freed = dict.fromkeys(retention.KINDS, Amount())
    is_all = True
    for kind, age in ages.items():
        freed[kind], no_more = retention.apply(store, workspace, kind, age)
        is_all = is_all and no_more
    return answer({"freed": {kind: _amount(amount) for kind, amount in freed.items()}, "more": not is_all})


def _amount(amount: Amount) -> Json:
    return {"runs": amount.runs, "bytes": amount.bytes}
