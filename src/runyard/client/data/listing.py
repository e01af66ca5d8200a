"""The files of a dataset, as the server lists them: page by page, and held so that a million of them fit into little
memory. What is done with them is `runyard.client.data_files`.
"""

from __future__ import annotations

import marshal
import posixpath
import zlib
from itertools import islice
from typing import Any, Callable, Iterable, Iterator, Mapping, Sequence, overload

from runyard.contracts.data import seen

Get = Callable[[str, Mapping[str, Any]], Any]
"""Asks the server for JSON: an address and its parameters."""

File = Mapping[str, Any]
PAGE = 10_000


class Files(Sequence[File]):
    """Listed files in their order. The last page is held as it is, those before it packed."""

    def __init__(self, files: Iterable[File] = ()) -> None:
        self._packed: list[bytes] = []
        self._last: list[File] = []
        self._looked_at: tuple[int, list[File]] = (-1, [])
        self.add(files)

    def add(self, files: Iterable[File]) -> None:
        left = iter(files)
        while more := list(islice(left, PAGE - len(self._last) or PAGE)):
            if len(self._last) == PAGE:
                self._packed.append(zlib.compress(marshal.dumps(self._last), 1))
                self._last = []
            self._last += more

    def pages(self) -> Iterator[list[File]]:
        """The files in lists of at most `PAGE`."""
        for number in range(len(self._packed)):
            yield self._unpacked(number)
        yield self._last

    def __len__(self) -> int:
        return len(self._packed) * PAGE + len(self._last)

    def __iter__(self) -> Iterator[File]:
        for page in self.pages():
            yield from page

    @overload
    def __getitem__(self, at: int) -> File: ...

    @overload
    def __getitem__(self, at: slice) -> list[File]: ...

    def __getitem__(self, at: int | slice) -> File | list[File]:
        if isinstance(at, slice):
            return [self[number] for number in range(*at.indices(len(self)))]
        number = at + len(self) if at < 0 else at
        if not 0 <= number < len(self):
            raise IndexError(f"There are {len(self):,} files.")
        page, place = divmod(number, PAGE)
        if page == len(self._packed):
            return self._last[place]
        if self._looked_at[0] != page:
            self._looked_at = (page, self._unpacked(page))
        return self._looked_at[1][place]

    def _unpacked(self, number: int) -> list[File]:
        found: list[File] = marshal.loads(zlib.decompress(self._packed[number]))
        return found


class Listing:
    """The files of a dataset, with what is known of them together."""

    def __init__(
        self, files: Iterable[File], single: bool, several: bool, mounting: Mapping[str, Any] | None = None
    ) -> None:
        self.files = Files()
        self.mounting = mounting or {}  # when and how the server's workspace would have it mounted lazily
        self.single, self.several = single, several
        self.state = seen.State()
        self._common: str | None = None
        self.add(files)

    def add(self, files: Iterable[File]) -> None:
        page = list(files)
        self.files.add(page)
        for each in page:
            self.state.add(str(each["path"]), each.get("size"), seen.mark_of(each), seen.where(each))
        if self.several and page:
            folders = {posixpath.dirname(str(each["path"])) for each in page}
            self._common = posixpath.commonpath([*folders, *([] if self._common is None else [self._common])])

    @property
    def bytes(self) -> int:
        return self.state.bytes

    def mounted(self) -> Iterator[str]:
        """The paths as a mount shows them: of several sources, the longest common folder is cut."""
        cut = len((self._common or "").rstrip("/"))
        return (str(each["path"])[cut:] for each in self.files)

    def layout(self) -> Iterator[str]:
        """The paths as a download has them."""
        return (str(each["path"]) for each in self.files)


def listing(get: Get, address: str) -> Listing:
    """All files of a dataset; `address` is that of the dataset itself."""
    found: Listing | None = None
    after = None
    while True:
        answer = get(f"{address}/files", {"after": after})
        if found is None:
            found = Listing((), bool(answer["single"]), bool(answer["several"]), answer.get("mounting"))
        found.add(answer["files"])
        after = answer["next"]
        if after is None:
            return found


def paths(get: Get, address: str) -> Iterator[str]:
    """The paths of all files as a download has them, and nothing else: what a listing has besides takes most of its
    time."""
    after = None
    while True:
        answer = get(f"{address}/paths", {"after": after})
        yield from answer["paths"]
        after = answer["next"]
        if after is None:
            return


def state(get: Get, address: str) -> str | None:
    """What a listing's `state.value` would be now, without a listing: the server works it out."""
    value = get(f"{address}/state", {})["state"]
    return str(value) if value is not None else None
