"""The route by which a node runner says that the data of a run is where it belongs, so that it becomes datasets."""

from __future__ import annotations

from dataclasses import asdict

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from runyard.server.context import Context
from runyard.server.middleware.reach import LedRun
from runyard.server.responses.documents import answer
from runyard.store.assets import run_outputs

router = APIRouter(prefix="/api/runs/{run_id}/outputs", tags=["data"])


class Delivered(BaseModel):
    model_config = ConfigDict(extra="forbid")

    complete: bool = Field(description="whether the run has ended well")


@router.post("", summary="Make datasets of the data that a run has written")
def deliver(run_id: LedRun, body: Delivered, context: Context) -> Response:
    with context.store.database.write() as connection:
        written = run_outputs.keep(connection, run_id, body.complete)
    return answer({"outputs": [asdict(each) for each in written]})
