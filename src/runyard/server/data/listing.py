"""The files of a dataset: where each lies in a run, and how it is to be had. Nothing is copied here."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from runyard.contracts.data import address_map, file_steps, seen
from runyard.contracts.data import datasets as contract
from runyard.contracts.data.datasets import Definition, Source
from runyard.server.data import web
from runyard.server.data.folder_place import stored
from runyard.server.data.places import Place, Whole
from runyard.server.middleware.problems import Problem
from runyard.server.responses.paused import Pages

AT_ONCE = 16
"""Addresses that are looked at side by side."""


class Listed(NamedTuple):
    """A file. It is on the server's disk (`local`), or in a datastore, or at an address that anybody may read."""

    path: str
    source: str  # as the definition has it
    size: int | None = None
    etag: str | None = None
    modified: str | None = None
    local: str | None = None
    url: str | None = None
    datastore: str | None = None
    stored: str = ""  # its path in the datastore
    whole: bool = False  # it is what its source names, and not one of several
    address: str | None = None  # what it is known by, where `url` has a signature
    number: int = 0  # of its source in the definition


PlaceOf = Callable[[str], Place]
"""The place of a datastore by its name; refused when there is none."""


@dataclass(frozen=True)
class Position:
    """Where a listing was interrupted: after which file of which source, and what each step had seen by then."""

    source: int
    stored: str
    counts: tuple[int, ...]

    def __str__(self) -> str:
        return json.dumps([self.source, self.stored, *self.counts])

    @staticmethod
    def parse(text: str, steps: int) -> Position:
        try:
            source, stored, *counts = json.loads(text)
        except (ValueError, TypeError):
            source, stored, counts = None, None, []
        numbers = [source, *counts]
        sound = all(isinstance(each, int) and not isinstance(each, bool) and each >= 0 for each in numbers)
        if not sound or not isinstance(stored, str) or len(counts) != steps:
            raise Problem("bad_request", f"{text[:80]!r} is no position in this listing.", "Use `next` of an answer.")
        return Position(source, stored, tuple(counts))


class Going:
    """The files of a dataset in their order, each layout path once, page by page. A Problem says which source cannot be
    had. Nothing but the current folder is remembered.

    Without `facts` only `path` is sure to be known of a file, which takes far less time on a disk."""

    def __init__(
        self,
        definition: Definition,
        maps: Mapping[str, str],
        place_of: PlaceOf,
        after: Position | None = None,
        facts: bool = True,
    ) -> None:
        self._counts = list(after.counts) if after is not None else [0] * len(definition.steps)
        needs = facts or any(step["step"] == contract.FILTER for step in definition.steps)
        listed = _all(definition, maps, place_of, after, needs)
        self._pages = Pages(file_steps.chosen(definition, listed, _seen, self._counts))

    def page(self, limit: int) -> tuple[list[Listed], Position | None]:
        """The next files, at most so many, and where to go on after them; None when that was all."""
        found = self._pages.page(limit)
        counts = tuple(self._counts)  # before a look at what follows
        return found, Position(found[-1].number, found[-1].stored, counts) if self._pages.more() else None


def state(definition: Definition, maps: Mapping[str, str], place_of: PlaceOf) -> seen.State:
    """The whole listing in one word, as whoever gets the listing works it out."""
    found = seen.State()
    for each in file_steps.chosen(definition, _all(definition, maps, place_of), _seen):
        known = None
        if each.local is None and each.datastore is not None:
            known = place_of(each.datastore).known_as(each.stored)
        found.add(each.path, each.size, each.etag or each.modified, known or each.local or each.url or each.source)
    return found


def whole_folder(definition: Definition, place_of: PlaceOf) -> Whole | None:
    """The folder of the server's disk whose content is just the files of a dataset."""
    source = definition.sources[0]
    if definition.several or definition.steps or source.datastore is None:
        return None
    wanted = contract.normal(source.path)
    below = "" if wanted == "**" else wanted[:-3] if wanted.endswith("/**") else wanted
    return None if contract.is_pattern(below) else place_of(source.datastore).whole(below)


def find(definition: Definition, maps: Mapping[str, str], place_of: PlaceOf, path: str) -> Listed | None:
    """The file of the sources with a layout path, if the server itself can give it. Nothing is listed."""
    for source in definition.sources:
        if source.url is not None:
            place = address_map.look_up(maps, source.url)
            if place.url is None and contract.layout(definition, source) == path:
                return _on_web(definition, source, maps, place_of)
            continue
        for candidate in contract.stored_paths(definition, source, path):
            found = place_of(str(source.datastore)).look(candidate)
            if found is not None:
                here = place_of(str(source.datastore)).local(candidate)
                facts = (found.size, found.etag, found.modified)
                return Listed(path, str(source), *facts, here, None, source.datastore, candidate)
    return None


def with_addresses(found: Sequence[Listed], place_of: PlaceOf) -> list[Listed]:
    """The same files, with a signed address each that lies in an object store."""
    made: dict[int, Listed] = {}
    for name in {each.datastore for each in found if each.datastore is not None and each.local is None}:
        place = place_of(name)
        those = [number for number, each in enumerate(found) if each.datastore == name]
        signed = place.addresses([found[number].stored for number in those])
        for number, url in zip(those, signed, strict=True):
            made[number] = found[number]._replace(url=url, address=place.known_as(found[number].stored))
    return [made.get(number, each) for number, each in enumerate(found)]


def is_single(definition: Definition, found: list[Listed]) -> bool:
    """Whether a run gets the path of the one file, and not of a folder."""
    return definition.may_be_single and len(found) == 1 and found[0].whole


def _all(
    definition: Definition,
    maps: Mapping[str, str],
    place_of: PlaceOf,
    after: Position | None = None,
    facts: bool = True,
) -> Iterator[Listed]:
    earlier = _Earlier(definition)
    if definition.sources[0].url is not None:
        first = 0 if after is None else after.source + 1
        left = [number for number in range(first, len(definition.sources)) if earlier.is_new_url(number)]

        def look(number: int) -> Listed:
            return _on_web(definition, definition.sources[number], maps, place_of)._replace(number=number)

        with ThreadPoolExecutor(max(1, min(AT_ONCE, len(left)))) as pool:
            yield from pool.map(look, left)
        return
    for number, source in enumerate(definition.sources):
        if after is not None and number < after.source:
            continue
        resumed = after.stored if after is not None and number == after.source else None
        listed = _in_datastore(definition, source, place_of(str(source.datastore)), resumed, facts)
        if not number:
            yield from listed
            continue
        for each in listed:
            if earlier.is_new(number, each.stored):
                yield each._replace(number=number)


class _Earlier:
    """Whether a file was meant by an earlier source already: known from the sources alone, so that nothing has to be
    remembered of a million files."""

    def __init__(self, definition: Definition) -> None:
        self._urls: dict[str, int] = {}
        self._plain: dict[tuple[str, str], int] = {}
        self._patterns: list[tuple[int, str, Callable[[str], bool]]] = []
        self._sources = definition.sources
        for number, source in enumerate(definition.sources):
            wanted, store = contract.normal(source.path), str(source.datastore)
            if source.url is not None:
                self._urls.setdefault(source.url, number)
            elif contract.is_pattern(wanted):
                self._patterns.append((number, store, contract.matcher(wanted)))
            else:
                self._plain.setdefault((store, wanted), number)

    def is_new_url(self, number: int) -> bool:
        return self._urls[str(self._sources[number].url)] == number

    def is_new(self, number: int, path: str) -> bool:
        store, folder = str(self._sources[number].datastore), path
        while True:
            if self._plain.get((store, folder), number) < number:
                return False
            if not folder:
                break
            folder = folder.rpartition("/")[0]
        return not any(other < number and name == store and fits(path) for other, name, fits in self._patterns)


def _on_web(definition: Definition, source: Source, maps: Mapping[str, str], place_of: PlaceOf) -> Listed:
    url = str(source.url)
    place = address_map.look_up(maps, url)
    path = contract.layout(definition, source)
    if place.local is not None:
        return _on_disk(path, source, Path(place.local))
    if place.datastore is not None:
        return _mapped_to_datastore(path, source, place.datastore, place.path, place_of)
    try:
        seen = web.look(str(place.url))
    except web.Unreachable as error:
        raise _unreachable(url, str(place.url), str(error)) from None
    return Listed(path, url, seen.size, seen.etag, seen.modified, None, place.url, whole=True)


def _on_disk(path: str, source: Source, place: Path) -> Listed:
    try:
        status = place.stat()
        if not place.is_file():
            raise IsADirectoryError(f"{place} is no file")
    except OSError as error:
        raise _unreachable(str(source.url), str(place), error.strerror or str(error)) from None
    found = stored(path, status)
    return Listed(path, str(source), found.size, found.etag, found.modified, str(place), None, whole=True)


def _mapped_to_datastore(path: str, source: Source, name: str, below: str, place_of: PlaceOf) -> Listed:
    place = place_of(name)
    found = place.look(below) if below else None
    if found is None:
        raise _unreachable(str(source.url), f"datastore:{name}/{below}", "there is no such file")
    facts = (found.size, found.etag, found.modified)
    return Listed(path, str(source), *facts, place.local(below), None, name, below, whole=True)


def _in_datastore(
    definition: Definition, source: Source, place: Place, after: str | None, facts: bool
) -> Iterator[Listed]:
    wanted = contract.normal(source.path)
    fits = contract.matcher(wanted)
    below = contract.fixed_part(wanted) if contract.is_pattern(wanted) else wanted
    layout_of, name = contract.layout_of(definition, source), str(source)
    found = after is not None
    local, datastore = place.local, source.datastore
    for path, size, etag, modified in place.files(below, after, facts):
        if not fits(path):
            continue
        found = True
        layout = layout_of(path)
        if not contract.is_safe(layout):
            raise Problem(
                "bad_dataset",
                f"{source} has a file that would leave its folder: {path[:200]!r}.",
                "Rename it, or choose the files with a pattern that does not mean it.",
            )
        yield Listed(layout, name, size, etag, modified, local(path), None, datastore, path, path == wanted)
    if not found:
        raise Problem(
            "source_empty",
            f"No file is meant by {source.path!r} in the datastore {source.datastore!r}.",
            f"`runyard datastore tree {source.datastore}` shows its files; '*' does not cross a '/', and '**' does.",
            {"datastore": source.datastore, "path": source.path},
        )


def _seen(each: Listed) -> file_steps.Seen:
    mapped = each.source.startswith(contract.WEB)  # a web address, wherever its file is read
    return file_steps.Seen(each.path, each.source if mapped else f"/{each.stored}", each.size, each.modified)


def content_address(id: str) -> str:
    """Where the server itself gives a file, below the workspace: its path, quoted, comes behind this."""
    return f"datasets/{quote(id, safe='')}/content?path="


def _unreachable(url: str, looked_at: str, answer: str) -> Problem:
    through = f" (mapped to {looked_at})" if looked_at != url else ""
    prefix = url.rpartition("/")[0] + "/"
    return Problem(
        "source_unreachable",
        f"{url}{through} does not give its file: {answer}.",
        f"Correct the address, or say where its files are now: `runyard data map {prefix} /folder/with/the/files` "
        "(or another address, or datastore:NAME/folder).",
        {"url": url, "place": looked_at, "answer": answer},
    )
