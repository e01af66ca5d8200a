"""What is done to many runs at once. Each of them is done by itself: what one of them refuses stops no other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from runyard.contracts import states
from runyard.server.context import Context, ServerContext
from runyard.server.middleware.auth import User
from runyard.server.responses.documents import Json, answer
from runyard.store.content import deletion
from runyard.store.errors import StoreError
from runyard.store.runs import runs

MOST = 1000

router = APIRouter(prefix="/api/run-batches", tags=["runs"], dependencies=[User])


class Batch(BaseModel):
    model_config = ConfigDict(extra="forbid")

    action: Literal["tag", "archive", "restore", "stop", "delete"]
    runs: list[str] = Field(min_length=1, max_length=MOST)
    set_tags: dict[str, str | None] = {}
    remove_tags: list[str] = []


@router.post("", summary="Tag, archive, stop or delete many runs")
def do(body: Batch, context: Context) -> Response:
    acts: dict[str, Callable[[ServerContext, Batch, str], None]] = {
        "tag": _tag,
        "archive": _archive,
        "restore": _archive,
        "stop": _stop,
        "delete": _delete,
    }
    done: list[str] = []
    refused: list[Json] = []
    for run_id in dict.fromkeys(body.runs):
        try:
            acts[body.action](context, body, run_id)
        except StoreError as error:
            refused.append({"id": run_id, "code": error.code, "title": error.title, "help": error.help})
        else:
            done.append(run_id)
            context.live.touch(run_id)
    return answer({"done": done, "refused": refused})


def _tag(context: ServerContext, body: Batch, run_id: str) -> None:
    with context.store.database.write() as connection:
        runs.update(connection, run_id, set_tags=body.set_tags, remove_tags=body.remove_tags)


def _archive(context: ServerContext, body: Batch, run_id: str) -> None:
    with context.store.database.write() as connection:
        runs.serial_of(connection, run_id)
        runs.archive(connection, [run_id], body.action == "archive")


def _stop(context: ServerContext, body: Batch, run_id: str) -> None:
    with context.store.database.read() as connection:
        ended = runs.get(connection, run_id).status in states.TERMINAL
    if not ended:
        context.scheduler.cancel(run_id)


def _delete(context: ServerContext, body: Batch, run_id: str) -> None:
    with context.store.database.read() as connection:
        gone = [run_id, *runs.descendants(connection, run_id)]
    deletion.delete_runs(context.store, [run_id])
    for each in gone:
        context.scheduler.forget(each)
