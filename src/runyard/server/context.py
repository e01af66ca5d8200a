"""What every route works with, made when the server starts and reached through `Context`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, cast

from fastapi import Depends, Request

from runyard.scheduler.scheduler import Scheduler
from runyard.server.ingest import Ingest
from runyard.server.live import Live
from runyard.server.middleware.meters import Meters
from runyard.server.pace import Pace
from runyard.server.readiness import Readiness
from runyard.server.settings import Settings
from runyard.server.studio.sessions import Sessions
from runyard.store.content.secrets import Secrets
from runyard.store.mlflow.logging import Pending
from runyard.store.store import Store


@dataclass(frozen=True)
class ServerContext:
    settings: Settings
    store: Store
    secrets: Secrets
    scheduler: Scheduler
    live: Live
    meters: Meters
    readiness: Readiness
    ingest: Ingest
    pace: Pace
    pending: Pending
    sessions: Sessions
    started_at: datetime


def context_of(request: Request) -> ServerContext:
    return cast(ServerContext, request.app.state.context)


async def _context(request: Request) -> ServerContext:
    return context_of(request)


Context = Annotated[ServerContext, Depends(_context)]
