"""Routes of runs over many nodes, and of runs that start again: where a gang meets, and preemption on purpose."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from runyard.server.context import Context
from runyard.server.middleware.reach import LedRun
from runyard.server.responses import documents
from runyard.server.responses.documents import answer

router = APIRouter(prefix="/api/runs/{run_id}", tags=["runs"])


class Meeting(BaseModel):
    """Where the node that leads an attempt of a run is to be met."""

    model_config = ConfigDict(extra="forbid")

    attempt: int = Field(ge=1)
    address: str = Field(pattern=r"^[\x21-\x7e]{1,255}:[0-9]{1,5}$", description="host:port")


@router.put("/meeting", summary="Set where the nodes of a run meet")
def meet(run_id: LedRun, body: Meeting, context: Context) -> Response:
    context.scheduler.meet(run_id, body.attempt, body.address)
    return answer({"address": body.address})


@router.get("/meeting", summary="Ask where the nodes of a run meet")
def meeting(run_id: LedRun, context: Context, attempt: Annotated[int, Query(ge=1)] = 1) -> Response:
    return answer({"address": context.scheduler.meeting(run_id, attempt)})


@router.post("/preempt", summary="End a run's attempt; another one follows it")
def preempt(run_id: LedRun, request: Request, context: Context) -> Response:
    return answer(documents.run(context.scheduler.preempt(run_id), context, request.base_url))
