"""Whether a dataset is mounted lazily, and how: by nodes for runs, and by the SDK in a notebook."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable, Mapping, Sequence

from runyard.client.data.cache import Cache, key_of
from runyard.client.data.listing import Listing
from runyard.client.data.mounts import Mounted, NotMounted, mount
from runyard.client.data.renewal import as_order
from runyard.client.data_files import is_here
from runyard.client.http import Locator
from runyard.system.records import record

MOST = 200_000
"""Files that a mount shows: its process holds all of them in memory."""


@record(frozen=True)
class Missing:
    """What would have to be fetched of a dataset."""

    files: int
    bytes: int
    unknown: bool  # the size of one is not known


def missing(found: Listing, cache: Cache, above: int | None) -> Missing | None:
    """What would have to be fetched, if that is more than `above` bytes; None when it is not, and for no limit."""
    if above is None or found.bytes <= above:
        return None
    files = size = 0
    unknown = False
    for file in found.files:
        if is_here(file):
            continue
        key = key_of(file)
        if key is not None and cache.find(key, file["size"]) is not None:
            continue
        files += 1
        size += int(file["size"] or 0)
        unknown = unknown or file["size"] is None
    return Missing(files, size, unknown) if size > above else None


def mount_lazily(
    place: Path,
    found: Listing,
    lacks: Missing,
    cache: Path,
    server: Locator,
    workspace: str,
    dataset: str,
    sdk: Path,
    pythons: Sequence[str],
    check: Callable[[], None] = lambda: None,
) -> Mounted:
    """Mount a listing at an empty folder. `workspace` and `dataset` are their addresses at the server. NotMounted says
    why that cannot be."""
    if lacks.unknown:
        raise NotMounted("the size of a file is not known")
    if len(found.files) > MOST:
        raise NotMounted(f"a mount shows at most {MOST:,} files")
    file = str(server.server_file) if server.server_file is not None else None
    renewal = as_order(server.url, str(server.token), file, dataset)
    files = [{**_readable(server, workspace, each), "at": path} for each, path in zip(found.files, found.mounted())]
    return mount(place, files, cache, sdk, pythons, renewal, check)


def _readable(server: Locator, workspace: str, file: Mapping[str, Any]) -> dict[str, Any]:
    """A file as another process reads it: what only the server gives has its address, with the token."""
    if file.get("url") or not file.get("content"):
        return dict(file)
    headers = {"Authorization": f"Bearer {server.token}"}
    return {**file, "url": f"{server.url}{workspace}/{file['content']}", "headers": headers}
