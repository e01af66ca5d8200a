"""Mapped addresses: a web address that is gone, and where its files are now.

A map is `{prefix: place}`; a place is another address, a folder on the server's machine, or `datastore:NAME/folder`.
The longest prefix counts.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Mapping
from urllib.parse import unquote

from runyard.contracts.data import datastores
from runyard.contracts.data.datasets import WEB

MOST = 1_000
STORE = "datastore:"
"""What a place in a datastore begins with."""


class BadMap(ValueError):
    """Why something cannot be mapped."""


@dataclass(frozen=True)
class Mapped:
    """Where a file is: at an address, on the server's disk, or at a path in a datastore. Exactly one is set."""

    url: str | None = None
    local: str | None = None
    datastore: str | None = None
    path: str = ""


def check(prefix: str, place: str) -> None:
    if not prefix.startswith(WEB) or len(prefix) > 2_000 or any(char.isspace() for char in prefix):
        raise BadMap(f"{prefix[:200]!r} is no address: a prefix begins with http:// or https://.")
    if place.startswith(WEB):
        if any(char.isspace() for char in place) or len(place) > 2_000:
            raise BadMap(f"{place[:200]!r} is no address.")
        return
    if place.startswith(STORE):
        name, _, folder = place[len(STORE) :].partition("/")
        try:
            datastores.check_name(name)
        except datastores.BadDatastore as error:
            raise BadMap(str(error)) from None
        if "\0" in folder or ".." in folder.split("/") or len(place) > 2_000:
            raise BadMap(f"{folder[:200]!r} is no folder in a datastore.")
        return
    if not os.path.isabs(place) or "\0" in place or ".." in place.split("/"):
        raise BadMap(
            f"{place[:200]!r} is neither an address nor the whole path of a folder, such as /data/mnist, nor "
            "datastore:NAME/folder."
        )


def parse(text: str) -> dict[str, str]:
    """The map that a setting holds; BadMap when it holds none."""
    try:
        found = json.loads(text or "{}")
    except ValueError as error:
        raise BadMap(f"A map is a JSON object of prefixes and places: {error}") from None
    if not isinstance(found, dict) or len(found) > MOST or not all(isinstance(each, str) for each in found.values()):
        raise BadMap(f"A map is a JSON object of at most {MOST:,} prefixes and places.")
    for prefix, place in found.items():
        check(prefix, place)
    return dict(sorted(found.items()))


def look_up(maps: Mapping[str, str], url: str) -> Mapped:
    """Where the file of an address is to be had.

    >>> look_up({"http://gone.org/mnist/": "/data/mnist"}, "http://gone.org/mnist/a.gz")
    Mapped(url=None, local='/data/mnist/a.gz', datastore=None, path='')
    >>> look_up({}, "http://here.org/a.gz")
    Mapped(url='http://here.org/a.gz', local=None, datastore=None, path='')
    """
    prefix = max((each for each in maps if _covers(each, url)), key=len, default=None)
    if prefix is None:
        return Mapped(url=url)
    place, rest = maps[prefix], url[len(prefix) :].lstrip("/")
    if place.startswith(WEB):
        return Mapped(url=place.rstrip("/") + "/" + rest if rest else place)
    below = [part for part in unquote(rest.partition("?")[0]).split("/") if part not in ("", ".")]
    if ".." in below or any("\0" in part for part in below):
        return Mapped(url=url)  # which would leave the folder
    if place.startswith(STORE):
        name, _, folder = place[len(STORE) :].partition("/")
        parts = [part for part in folder.split("/") if part not in ("", ".")]
        return Mapped(datastore=name.lower(), path="/".join([*parts, *below]))
    return Mapped(local=os.path.join(place, *below))


def _covers(prefix: str, url: str) -> bool:
    return url.startswith(prefix) and (prefix.endswith("/") or url[len(prefix) :][:1] in ("", "/", "?"))
