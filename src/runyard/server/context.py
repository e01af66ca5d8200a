"""What every route works with, made when the server starts and reached through `Here`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, cast

from fastapi import Depends, Request

from runyard.scheduler.scheduler import Scheduler
from runyard.server.live import Live
from runyard.server.middleware.meters import Meters
from runyard.server.readiness import Readiness
from runyard.server.settings import Settings
from runyard.store.content.secrets import Secrets
from runyard.store.store import Store


@dataclass(frozen=True)
class Yard:
    settings: Settings
    store: Store
    secrets: Secrets
    scheduler: Scheduler
    live: Live
    meters: Meters
    readiness: Readiness
    started_at: datetime


def yard_of(request: Request) -> Yard:
    return cast(Yard, request.app.state.yard)


async def _here(request: Request) -> Yard:
    return yard_of(request)


Here = Annotated[Yard, Depends(_here)]
