"""Taking a snapshot: the folder becomes a manifest, and only content that the server lacks is uploaded.

An unchanged folder costs one walk and one request. Files are stored once, whatever their names and however many
snapshots hold them.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Callable, Iterator, Mapping, Sequence, TypeVar

from runyard.client.http import ClientProblem
from runyard.contracts import home as homes
from runyard.contracts import manifest, pack
from runyard.sdk.exceptions import AzureMLException, SnapshotException
from runyard.sdk.notices import notice
from runyard.sdk.progress import progress
from runyard.sdk.run.file_transfer import sendable
from runyard.sdk.snapshot.handover import Handover
from runyard.sdk.snapshot.hashes import Content, Hashes, Known
from runyard.sdk.snapshot.ignore import ignored_by
from runyard.sdk.snapshot.tree import Found, Tree, walk
from runyard.sdk.workspace.service import Service, problem_code
from runyard.system.records import replace

LARGE = 300 * 1000 * 1000
PACK_BYTES = 64 << 20
ATTEMPTS = 10


class _Changed(Exception):
    """A file's bytes are no longer those of its hash."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


Used = TypeVar("Used")


def take_snapshot(service: Service, folder: Path) -> str:
    """Send a folder (or one file) to the server as it is now, and return the snapshot's id.

    Raises SnapshotException when something in it cannot be read; the message names it and the remedies.
    """

    def use(snapshot_id: str, sent: bool) -> str:
        if not sent:
            service.put(f"/api/snapshots/{snapshot_id}", body=b"")
        return snapshot_id

    return with_snapshot(service, folder, use)


def with_snapshot(service: Service, folder: Path, use: Callable[[str, bool], Used]) -> Used:
    """Use the snapshot of a folder as it is now: `use` gets its id and makes the request that names it.

    It is called before the snapshot was sent (False): mostly the server has it, and that is all. Where the server
    answers that it has not, the snapshot is sent and `use` is called again (True). Raises what `take_snapshot` does.
    """
    first = _walked(folder)
    tree = first[1]
    if tree.size > LARGE:
        notice(_largest(folder, tree))
    if tree.left_out:
        notice(f"Left out of the snapshot of {folder}: " + "; ".join(sorted(tree.left_out)) + ".")
    try:
        return with_tree(service, folder, lambda: _walked(folder), use, first=first)
    except TooRestless as error:
        raise SnapshotException(
            f"{error} Leave out what is being written while you submit: name it in a file .amlignore at the top of the "
            "folder."
        ) from None


class TooRestless(Exception):
    """The files of a folder change faster than they can be read."""


def with_tree(
    service: Service,
    folder: Path,
    walked: Callable[[], tuple[Path, Tree]],
    use: Callable[[str, bool], Used],
    below: str = "",
    first: tuple[Path, Tree] | None = None,
) -> Used:
    """The same for files that `walked` finds: it gives the folder that they are in, and their tree. In the manifest
    they lie `below` a folder of that name. Hashes are kept under the name of `folder`."""
    root, tree = walked() if first is None else first
    cache = homes.home() / "cache" / "snapshots"
    with ExitStack() as stack:
        handover = Handover.to(service)
        if handover is not None:
            stack.enter_context(handover)
        hashes = stack.enter_context(Hashes(root, Known(cache, folder), handover))
        for _ in range(ATTEMPTS):
            with progress(f"Reading {len(tree.files)} files", tree.size) as moved:
                if handover is not None:
                    handover.moved = moved
                made = manifest.make(_below(below, [*tree.entries, *hashes.entries(tree)]))
            snapshot_id = made.id
            try:
                return use(snapshot_id, False)
            except AzureMLException as refusal:
                if problem_code(refusal) not in _NOT_THERE:
                    raise
            try:
                if handover is not None:
                    handover.deliver(service)
                _send(service, snapshot_id, made.text, hashes)
                return use(snapshot_id, True)
            except _Changed as change:
                hashes.changed(change.path)
                root, tree = walked()
    raise TooRestless(f"The files in {folder} change faster than they can be read.")


_NOT_THERE = ("snapshot_not_found", "objects_missing")
"""The server does not have the snapshot, or not all of what it is made of."""


def _below(folder: str, entries: list[manifest.Entry]) -> list[manifest.Entry]:
    return [replace(entry, path=f"{folder}/{entry.path}") for entry in entries] if folder else entries


def _walked(folder: Path) -> tuple[Path, Tree]:
    """The tree of a folder, or of a single file as if it were alone in one."""
    if folder.is_dir():
        return folder, walk(folder, ignored_by(folder))
    try:
        status = folder.stat()
    except OSError as error:
        raise SnapshotException(
            f"There is nothing at {folder.absolute()} to take a snapshot of ({error.strerror}).", inner_exception=error
        ) from error
    return folder.parent, Tree(folder.parent, [Found.of(folder.name, status)])


def _send(service: Service, snapshot_id: str, text: bytes, hashes: Hashes) -> None:
    """Offer the snapshot by its manifest, then with the content that the server lacks."""
    address = f"/api/snapshots/{snapshot_id}"
    missing = service.put(address, body=text)["missing"]
    if missing:
        _upload(service, [(digest, hashes.contents[digest]) for digest in missing])
        left = service.put(address, body=text)["missing"]
        if left:
            raise SnapshotException(
                f"The server still lacks {len(left)} of {len(missing)} files after they were sent. Submit again; if "
                "that does not help, `runyard doctor` checks the server's store."
            )


def _upload(service: Service, wanted: Sequence[tuple[str, Content]]) -> None:
    total = sum(content.size for _, content in wanted)
    with progress(f"Sending {len(wanted)} files", total) as moved:
        for batch in _batches(wanted):
            if len(batch) == 1 and batch[0][1].size > PACK_BYTES:
                _upload_large(service, *batch[0], moved)
                continue
            body = b"".join(piece for digest, content in batch for piece in _packed(digest, content))
            with _refused_when_changed(dict(batch)):
                service.post("/api/objects", body=body, idempotent=True)
            moved(sum(content.size for _, content in batch))


def _batches(wanted: Sequence[tuple[str, Content]]) -> Iterator[list[tuple[str, Content]]]:
    batch: list[tuple[str, Content]] = []
    held = 0
    for digest, content in wanted:
        if batch and held + content.size > PACK_BYTES:
            yield batch
            batch, held = [], 0
        batch.append((digest, content))
        held += content.size
    if batch:
        yield batch


def _packed(digest: str, content: Content) -> list[bytes]:
    try:
        held = Path(content.place).read_bytes()
    except OSError as error:
        raise _Changed(content.path) from error
    return [pack.header(digest, len(held)), held]


def _upload_large(service: Service, digest: str, content: Content, moved: Callable[[int], None]) -> None:
    """One file that is too large for memory."""
    head = pack.header(digest, content.size)

    def pieces() -> Iterator[bytes]:
        yield head
        left = content.size
        try:
            with open(content.place, "rb") as stream:
                while left:
                    chunk = stream.read(min(pack.CHUNK, left))
                    left -= len(chunk)
                    if not chunk:
                        raise _Changed(content.path)
                    yield chunk
                    moved(len(chunk))
        except OSError as error:
            raise _Changed(content.path) from error

    with _refused_when_changed({digest: content}):
        service.post("/api/objects", body=pieces, length=len(head) + content.size, idempotent=True)


@contextmanager
def _refused_when_changed(sent: Mapping[str, Content]) -> Iterator[None]:
    """The server hashes what it receives: a file that has changed since it was hashed here is noticed there."""
    try:
        yield
    except AzureMLException as refusal:
        inner = refusal.inner_exception
        if not isinstance(inner, ClientProblem) or inner.code != "content_mismatch":
            raise
        changed = sent.get(str(inner.detail.get("expected")))
        if changed is None:
            raise
        raise _Changed(changed.path) from refusal


def _largest(folder: Path, tree: Tree) -> str:
    sizes: dict[str, int] = {}
    for file in tree.files:
        top, slash, _ = file.path.partition("/")
        sizes[top + slash] = sizes.get(top + slash, 0) + file.size
    largest = sorted(sizes.items(), key=lambda item: -item[1])[:3]
    named = ", ".join(f"{sendable(name)} ({size / 1e6:,.0f} MB)" for name, size in largest)
    return (
        f"The snapshot of {folder} holds {tree.size / 1e6:,.0f} MB; the largest parts are {named}. It is sent, once. "
        "What the run does not need can be named in a file .amlignore at the top of the folder."
    )
