"""The application: all routes, and what lives as long as the server does."""

from __future__ import annotations

import asyncio
import functools
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime, timezone

from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool

from runyard import __version__
from runyard.engines.registry import Engines
from runyard.engines.sdk_folder import sdk_folder
from runyard.scheduler.scheduler import Scheduler, Surroundings
from runyard.server import express, garbage, maintenance
from runyard.server.api import (
    compute,
    deliveries,
    environment_maps,
    environments,
    events,
    experiments,
    files,
    gangs,
    health,
    journals,
    metrics,
    node_files,
    retention,
    runs,
    snapshots,
    usage,
    wheels,
    workspace_settings,
    workspaces,
)
from runyard.server.api.assets import model_links, models, service_stops, services, sweeps
from runyard.server.api.assets import secrets as vault_secrets
from runyard.server.api.data import address_maps, datasets, datastores, run_outputs
from runyard.server.api.description import DescribedApp
from runyard.server.api.views import (
    changes,
    comparisons,
    lines,
    loads,
    run_batches,
    run_table,
    saved_views,
    service_views,
    sign_in,
    sources,
)
from runyard.server.context import ServerContext
from runyard.server.ingest import Ingest
from runyard.server.live import Live
from runyard.server.middleware import auth, problems
from runyard.server.middleware.body_limit import BodyLimit
from runyard.server.middleware.direct import Direct
from runyard.server.middleware.meters import Metered, Meters
from runyard.server.middleware.protocol import ProtocolCheck
from runyard.server.mlflow import ROUTES as MLFLOW_ROUTES
from runyard.server.mlflow.errors import MlflowErrors
from runyard.server.mlflow.pages import ROUTES as MLFLOW_PAGE_ROUTES
from runyard.server.mlflow.pages import front as mlflow_front
from runyard.server.mlflow.pages.calls import PageCalls
from runyard.server.mlflow.short_way import ShortWay
from runyard.server.pace import Pace
from runyard.server.readiness import Readiness
from runyard.server.settings import Settings
from runyard.server.studio import entry, figures
from runyard.server.studio import routes as page
from runyard.server.studio.pages import PAGES
from runyard.server.studio.sessions import Sessions
from runyard.store.content import sweeping
from runyard.store.content.secrets import Secrets
from runyard.store.errors import StoreError
from runyard.store.metrics import staging
from runyard.store.mlflow.logging import Pending
from runyard.store.runs import workspaces as stored_workspaces
from runyard.store.store import Store

log = logging.getLogger("runyard.server")

ROUTES = (
    *(runs, events, snapshots, files),  # which are asked for most, and so compared with an address first
    *(health, workspaces, workspace_settings, retention, environments, environment_maps, wheels, compute),
    *(datasets, datastores, address_maps, run_outputs, sweeps, vault_secrets),
    *(models, model_links, services, service_stops),
    *MLFLOW_ROUTES,
    *MLFLOW_PAGE_ROUTES,
    *(experiments, gangs, node_files, journals, metrics, lines, sources, comparisons, usage, page),
    *(sign_in, run_table, run_batches, saved_views, changes, loads, service_views),
)


def create_app(settings: Settings) -> FastAPI:
    """The server of one home folder. `settings` has its token, secret and url."""
    if not settings.token or not settings.secret:
        raise ValueError("a server without a token and a secret would let everybody in")
    live, meters, tokens = Live(), Meters(), auth.Tokens(settings)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            store = await run_in_threadpool(_open, settings)
            stack.push_async_callback(run_in_threadpool, store.close)
            secrets = Secrets(settings.home / "secrets", settings.secret)
            engines = Engines(settings.home, settings.local_runs)
            stack.push_async_callback(run_in_threadpool, engines.close)
            scheduler = _scheduler(settings, store, engines, secrets, live)
            await run_in_threadpool(scheduler.start)
            stack.push_async_callback(run_in_threadpool, scheduler.close)
            ingest, pace = await Ingest.open(store), Pace(live, scheduler.live, scheduler.sweeps.judges)

            def journal(run_id: str, writer: str, offset: int, data: bytes) -> None:
                live.metrics(run_id)
                scheduler.sweeps.delivered(run_id, writer, offset, data)

            ingest.on_journal = journal
            stack.push_async_callback(ingest.close)
            app.state.context = ServerContext(
                settings=settings,
                store=store,
                secrets=secrets,
                scheduler=scheduler,
                live=live,
                meters=meters,
                readiness=Readiness(store),
                ingest=ingest,
                pace=pace,
                pending=Pending(store.database),
                sessions=Sessions(store.database, settings),
                started_at=datetime.now(timezone.utc),
            )
            stack.callback(live.close)
            stack.callback(asyncio.create_task(_maintain(settings, store, engines)).cancel)
            stack.callback(asyncio.create_task(garbage.collect_seldom()).cancel)
            yield

    # Neither of the pages that show the API is on: they load scripts from elsewhere.
    app = DescribedApp(title="Runyard", version=__version__, docs_url=None, redoc_url=None, lifespan=lifespan)
    app.state.live = live
    app.router.routes.insert(0, deliveries.route)  # the first one that is compared with an address
    for routes in ROUTES:
        app.include_router(routes.router)
    for router in (
        entry.router,
        entry.files,
        figures.router,
        *(each.router for each in PAGES),
        entry.rest,
        mlflow_front.router,
    ):
        app.include_router(router)
    problems.install(app)
    app.add_middleware(BodyLimit, routes=[route for routes in ROUTES for route in routes.router.routes])
    app.add_middleware(PageCalls)
    app.add_middleware(auth.Authentication, tokens=tokens)
    app.add_middleware(ProtocolCheck)
    app.add_middleware(problems.Guard)
    app.add_middleware(MlflowErrors)
    app.add_middleware(Metered, meters=meters)
    app.direct = Direct(deliveries.route, ShortWay(app.usual, tokens, meters), tokens, meters, express.offer)
    return app


def _open(settings: Settings) -> Store:
    store = Store.open(settings.home, settings.database_url)
    with store.database.write() as connection:
        stored_workspaces.ensure_default(connection)
    return store


async def _maintain(settings: Settings, store: Store, engines: Engines) -> None:
    """What need not be done before the first request: lay out the SDK for runs, and remove leftovers now and then."""
    try:
        sdk = await run_in_threadpool(sdk_folder, settings.home)
        await run_in_threadpool(engines.get_ready, sdk)
    except OSError as error:  # the first run tries again, and reports it to its user
        log.warning("the SDK could not be laid out for runs: %s", error)
    try:
        await run_in_threadpool(sweeping.bring_back, store)
        await run_in_threadpool(staging.settle_ended, store.database)
    except (StoreError, OSError) as error:
        log.warning("what was left by a former server could not be looked through: %s", error)
    while True:
        await asyncio.sleep(maintenance.EVERY)
        await run_in_threadpool(maintenance.tidy, store)


def _scheduler(settings: Settings, store: Store, engines: Engines, secrets: Secrets, live: Live) -> Scheduler:
    surroundings = Surroundings(
        home=settings.home,
        server_url=lambda: settings.url,
        token_for=functools.partial(auth.run_token, settings.secret),
        sdk_folder=functools.cache(functools.partial(sdk_folder, settings.home)),
        secret_of=secrets.value,
        grace_seconds=settings.grace_seconds,
        secrets=secrets,
        user_token=settings.token,
    )
    return Scheduler(store, engines, surroundings, live.state, live.file)
