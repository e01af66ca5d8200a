"""`runyard env`: the environments that are built on this machine, and the command group they share with the others.

What is built is seen in the home folder: no server is needed to list it or to remove it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Annotated, Any

from runyard.cli import errors, package_caches
from runyard.cli.commands.env import build, maps
from runyard.cli.confirm import agreed
from runyard.cli.groups import group
from runyard.cli.options import JsonOption, LimitOption, UnusedForOption, seconds, size
from runyard.cli.output import formatting, screen
from runyard.cli.parameters import Argument, Option
from runyard.contracts import home as homes

if TYPE_CHECKING:
    from runyard.environments.cache import Cache, Entry

SHORT = 12
"""Characters of a key that are shown in lists: enough to name it."""

MOST_ASKED = 4
"""Packages of an environment that a list names."""


def _cache() -> Cache:
    from runyard.environments.cache import Cache

    return Cache(homes.home() / "environments")


def built_names(incomplete: str) -> list[str]:
    """Names and keys of what is built here, for the shell's completion."""
    entries = _cache().entries()
    known = [*(name for entry in entries for name in entry.names), *(entry.key for entry in entries)]
    return [name for name in dict.fromkeys(known) if name.startswith(incomplete)]


BuiltArgument = Annotated[
    str,
    Argument(
        metavar="NAME|KEY",
        help="The name of an environment, or its key, or a beginning of the key that fits one only.",
        autocompletion=built_names,
        show_default=False,
    ),
]


def ls(as_json: JsonOption = False) -> None:
    """List the environments that are built on this machine, those that were used last first."""
    cache = _cache()
    entries = cache.entries()
    if as_json:
        screen.document([_told(cache, entry) for entry in entries])
        return
    if not entries:
        print(f"No environment is built in {cache.folder}.")
    else:
        columns = ("KEY", "NAME", "KIND", "PYTHON", "SIZE", "USED", "BY", "ASKED FOR")
        screen.table(columns, [_row(cache, entry) for entry in entries])
        total = formatting.size(sum(entry.size for entry in entries))
        print(f"\n{formatting.count(len(entries), 'environment')}, {total}, in {cache.folder}")
    left = cache.leftovers()
    if left:
        print(
            f"Builds that were killed have left {formatting.count(len(left), 'folder')}: `runyard env gc` removes them."
        )


def show(environment: BuiltArgument, as_json: JsonOption = False) -> None:
    """Show one environment: what was built for it, or, when nothing was, its definition in the workspace."""
    cache = _cache()
    entries = _matching(cache, environment)
    if not entries:
        build.show_definition(environment, as_json)
        return
    if as_json:
        screen.document([_told(cache, entry) for entry in entries])
        return
    for number, entry in enumerate(entries):
        print("\n" * (number > 0) + screen.heading(", ".join(entry.names) or entry.key))
        for name, value in _facts(cache, entry):
            print(f"  {name:9}  {value}")


def rm(
    environment: Annotated[
        list[str],
        Argument(
            metavar="NAME|KEY...",
            help="Names of environments, keys, or beginnings of keys that fit one only.",
            autocompletion=built_names,
            show_default=False,
        ),
    ],
    force: Annotated[bool, Option("--force", help="Also those that runs are using: they may fail.")] = False,
    yes: Annotated[bool, Option("--yes", "-y", help="Do not ask where a name means several.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Remove built environments. A run that asks for one again builds it again; definitions stay."""
    from runyard.environments.cache import InUse

    cache = _cache()
    found = {entry.key: entry for text in environment for entry in _chosen(cache, text, yes)}
    removed: list[Entry] = []
    for entry in found.values():
        try:
            cache.remove(entry.key, force)
        except InUse as problem:
            done = f" Removed before it: {', '.join(each.key for each in removed)}." if removed else ""
            raise errors.CommandError(
                f"{problem}{done}",
                "Wait until it has ended, or stop it (`runyard ls` lists the runs). --force removes what a run uses.",
                code="environment_in_use",
            ) from None
        removed.append(entry)
    _report_removed(removed, 0, as_json)


def gc(
    limit: LimitOption = None,
    unused_for: UnusedForOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remove what builds that were killed have left, and environments that were not used for the longest time."""
    bytes_kept = None if limit is None else size(limit, "--limit")
    age = None if unused_for is None else seconds(unused_for, "--unused-for")
    cache = _cache()
    left = cache.sweep()
    _report_removed(cache.collect(bytes_kept, age), left, as_json)


def _report_removed(removed: Sequence[Entry], left: int, as_json: bool) -> None:
    freed = sum(entry.size for entry in removed)
    if as_json:
        entries = [{"key": entry.key, "names": entry.names, "size": entry.size} for entry in removed]
        caches = [{"folder": cache.folder, "free_with": cache.free_with} for cache in package_caches.of(removed)]
        screen.document({"removed": entries, "bytes_freed": freed, "leftovers": left, "kept_in": caches})
        return
    if left:
        print(f"Removed {formatting.count(left, 'folder')} that killed builds had left.")
    for entry in removed:
        print(f"Removed {', '.join(entry.names) or entry.key} ({entry.key[:SHORT]}, {formatting.size(entry.size)}).")
    for cache in package_caches.of(removed):
        where = f" ({cache.folder})" if cache.folder else ""
        print(f"Most of it is kept by the cache of {cache.tool}{where}, for the next environment.")
        print(f"`{cache.free_with}` frees that too; `{formatting.program()} du` shows where the space is.")
    if not removed and not left:
        print("There was nothing to remove.")


def _chosen(cache: Cache, text: str, yes: bool) -> list[Entry]:
    """The environments that a name or key means. Where there are several, the user has to confirm."""
    found = _known(cache, text)
    if len(found) > 1:
        listed = "".join(
            f"\n  {entry.key[:SHORT]}  {formatting.size(entry.size)}  {_in_short(entry.asked)}".rstrip()
            for entry in found
        )
        size = formatting.size(sum(entry.size for entry in found))
        question = f"{text!r} means {len(found)} environments, {size}:{listed}\nRemove all of them?"
        agreed(question, yes, "Nothing was removed.")
    return found


def _known(cache: Cache, text: str) -> list[Entry]:
    found = _matching(cache, text)
    if not found:
        raise errors.CommandError(
            f"No environment {text!r} is built on this machine.",
            "`runyard env ls` lists those that are.",
            errors.NOT_FOUND,
            "environment_not_found",
        )
    return found


def _matching(cache: Cache, text: str) -> list[Entry]:
    """The environments that were requested by this name; or the one whose key begins with it."""
    entries = cache.entries()
    named = [entry for entry in entries if text in entry.names or text == entry.key]
    if named or not text:
        return named
    fitting = [entry for entry in entries if entry.key.startswith(text)]
    if len(fitting) > 1:
        keys = ", ".join(entry.key for entry in fitting[:3])
        raise errors.CommandError(
            f"{text!r} fits more than one environment: {keys}.",
            "Give more of the key.",
            errors.NOT_FOUND,
            "environment_ambiguous",
        )
    return fitting


def _told(cache: Cache, entry: Entry) -> dict[str, Any]:
    moments = {name: _moment(value).isoformat() for name, value in _times(entry)}
    return {**entry.as_dict(), **moments, "used": cache.is_used(entry.key), "folder": str(cache.folder / entry.key)}


def _times(entry: Entry) -> Iterator[tuple[str, float]]:
    yield "built_at", entry.built_at
    yield "used_at", entry.used_at


def _moment(when: float) -> datetime:
    return datetime.fromtimestamp(when, timezone.utc)


def _row(cache: Cache, entry: Entry) -> tuple[str, ...]:
    used = "now" if cache.is_used(entry.key) else formatting.ago(_moment(entry.used_at))
    names = ", ".join(entry.names)
    return (
        entry.key[:SHORT],
        names,
        entry.kind,
        entry.built.python,
        formatting.size(entry.size),
        used,
        entry.builder,
        _in_short(entry.asked),
    )


def _in_short(asked: Sequence[str]) -> str:
    more = f" and {len(asked) - MOST_ASKED} more" if len(asked) > MOST_ASKED else ""
    return ", ".join(asked[:MOST_ASKED]) + more


def _facts(cache: Cache, entry: Entry) -> Iterator[tuple[str, str]]:
    built = entry.built
    yield "key", entry.key
    yield "kind", f"{entry.kind}, built by {entry.builder}"
    yield "python", f"{built.python} at {built.interpreter}".strip()
    if built.image:
        yield "image", built.image
    else:
        yield "folder", str(cache.folder / entry.key)
    yield "size", formatting.size(entry.size)
    yield "built", f"{formatting.local(_moment(entry.built_at))}, in {formatting.duration(entry.seconds)}"
    used = formatting.duration(time.time() - entry.used_at)
    yield "used", "by a run, now" if cache.is_used(entry.key) else f"last {used} ago"
    for line in entry.asked:
        yield "asked for", line
    for change in built.changes:
        yield "relaxed", change


app = group("env", "Environments: what is built on this machine, building ahead, and what stands in for a name.")

app.command()(ls)
app.command()(show)
app.command()(build.build)
app.command()(rm)
app.command()(gc)
app.command(name="map")(maps.map_pattern)
app.command()(maps.unmap)
app.command()(maps.maps)
