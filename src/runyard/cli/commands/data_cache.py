"""`runyard data cache`: the data that was fetched to this machine. No server is needed to list it or to remove it."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING

from runyard.cli.groups import group
from runyard.cli.options import JsonOption, LimitOption, UnusedForOption, seconds, size
from runyard.cli.output import formatting, screen
from runyard.contracts import home as homes

if TYPE_CHECKING:
    from runyard.client.data.cache import Cache, Entry


def _cache() -> Cache:
    from runyard.client.data.cache import FOLDER, Cache

    return Cache(homes.home() / FOLDER)


def ls(as_json: JsonOption = False) -> None:
    """List what was fetched, what was used last first."""
    cache = _cache()
    entries = cache.entries()
    if as_json:
        screen.document([entry.as_dict() for entry in entries])
        return
    if not entries:
        print(f"Nothing is in {cache.folder}.")
        return
    screen.table(("ADDRESS", "SIZE", "USED", "BY", "ETAG"), [_row(entry) for entry in entries])
    total = formatting.size(sum(entry.stored for entry in entries))
    print(f"\n{formatting.count(len(entries), 'file')}, {total}, in {cache.folder}")


def gc(
    limit: LimitOption = None,
    unused_for: UnusedForOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remove what was not fetched to its end, and files that were not used for the longest time. What a run uses
    stays."""
    kept = None if limit is None else size(limit, "--limit") if limit.strip("0 ") else 0
    age = None if unused_for is None else seconds(unused_for, "--unused-for")
    removed = _cache().collect(kept, age)
    if as_json:
        screen.document([entry.as_dict() for entry in removed])
        return
    freed = formatting.size(sum(entry.stored for entry in removed))
    print(f"Removed {formatting.count(len(removed), 'file')}, {freed}.")


def _row(entry: Entry) -> tuple[str, ...]:
    ago = formatting.ago(datetime.fromtimestamp(entry.used_at, timezone.utc))
    stored = formatting.size(entry.stored) + ("" if entry.whole else " of it")
    return entry.address, stored, ago, "a run" if entry.used else "", entry.etag or ""


app = group("cache", "The data that was fetched to this machine.")
app.command()(ls)
app.command()(gc)
