"""What the server does for its store once an hour, one thing after the other. What fails is logged, and tried again."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime, timedelta, timezone

from runyard.store import compaction
from runyard.store.content import retention, sweeping
from runyard.store.errors import StoreError
from runyard.store.metrics import consolidation, staging
from runyard.store.store import Store

log = logging.getLogger("runyard.server")

EVERY = 3600.0

SETTLED = timedelta(hours=1)
"""So long after its end nothing arrives of a run any more, as a rule."""

LOOKED_BACK = timedelta(days=2)
"""Runs that ended longer ago were looked at before, unless the server was down for so long."""


def tidy(store: Store) -> None:
    """Sweep leftovers, settle and pack what has ended, drop what is old, and give the space back."""
    for step in (_sweep, _settle, _retain, _pack, _reclaim):
        _attempt(step, store)


def _attempt(step: Callable[[Store], None], store: Store) -> None:
    try:
        step(store)
    except (StoreError, OSError) as error:
        log.warning("maintenance (%s): %s", step.__name__.strip("_"), error)


def _sweep(store: Store) -> None:
    swept = sweeping.sweep(store, sweeping.LEFTOVER_AFTER)
    if swept.held is not None:
        log.warning(
            "nothing is cleared away: the database does not name %d of the %d files in objects/ and growing/. Is it "
            "the right database? If so, `runyard database sweep` clears them away.",
            *(swept.held.files, swept.held.of),
        )
    log.info(
        "moved aside %d files that nothing names, %d bytes; removed %d bytes for good",
        *(swept.files_aside, swept.bytes_aside, swept.bytes_freed),
    )


def _settle(store: Store) -> None:
    staging.settle_ended(store.database)


def _retain(store: Store) -> None:
    for kind, amount in retention.apply_all(store).items():
        if amount.runs:
            log.info("dropped the %s of %d runs, %d bytes", kind, amount.runs, amount.bytes)


def _pack(store: Store) -> None:
    until = datetime.now(timezone.utc) - SETTLED
    packed = consolidation.merge_ended(store.database, until - LOOKED_BACK, until)
    if packed:
        log.info("packed %d series of runs that have ended", packed)


def _reclaim(store: Store) -> None:
    freed = compaction.reclaim(store.database)
    if freed:
        log.info("the database gave back %d bytes", freed)
