"""Bringing the files of a model to this machine: copied on the same disk, else fetched; checked in both cases.

Small files come many in one request, large ones each by itself, so that a broken connection costs nothing.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, BinaryIO, Callable, Sequence, cast

from runyard.client.http import quote
from runyard.contracts import manifest, names, pack
from runyard.contracts.manifest import FILE, FOLDER, LINK, Entry
from runyard.sdk.exceptions import WebserviceException
from runyard.sdk.model.refusals import translated
from runyard.sdk.model.registering import address
from runyard.sdk.notices import notice
from runyard.sdk.progress import progress
from runyard.sdk.run import file_transfer
from runyard.sdk.workspace.service import Service

if TYPE_CHECKING:
    from runyard.contracts.documents import ModelDocument
    from runyard.sdk.workspace.workspace import Workspace

SMALL = 1 << 20
A_REQUEST = 32 << 20
"""Bytes of small files that come in one answer."""
MOST_A_REQUEST = 1000
THREADS = 4

Moved = Callable[[int], None]


def bring(workspace: Workspace, model: ModelDocument, folder: Path, exist_ok: bool) -> Path:
    """Lay the files of a model below a folder; returns the path of its one file or folder.

    What is there already is replaced file by file with `exist_ok`, and refused without.
    """
    root = names.check_file(model["root"])  # it becomes a path, and may come from a malicious server
    target = folder / root
    if os.path.lexists(target) and not exist_ok:
        raise WebserviceException(
            f"There is a file or a folder {target} already. Use another target_dir, or exist_ok=True to replace it "
            "(on the command line: --to, --overwrite)."
        )
    entries = entries_of(workspace, model)
    try:
        with translated():
            _lay_out(workspace, model, entries, folder)
    except OSError as error:
        raise WebserviceException(
            f"The model {model['id']} cannot be written to {folder} ({error.strerror or error}).", inner_exception=error
        ) from error
    return target


def bring_once(workspace: Workspace, model: ModelDocument, folder: Path) -> Path:
    """The same for a folder that is this model's alone: it is there whole or not at all, however many processes ask
    for it at once."""
    target = folder / names.check_file(model["root"])
    if target.exists():
        return target
    folder.parent.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        bring(workspace, model, aside, exist_ok=True)
        os.chmod(aside, 0o755)
        try:
            os.rename(aside, folder)
        except OSError:
            if not target.exists():  # else another process was quicker
                raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return target


def entries_of(workspace: Workspace, model: ModelDocument) -> Sequence[Entry]:
    """What is in a model, by its manifest."""
    with translated(), workspace.service.stream(address(workspace, model["name"], model["version"], "manifest")) as got:
        text = b"".join(got)
    if hashlib.sha256(text).hexdigest() != model["tree"]:
        raise WebserviceException(f"The list of files that the server keeps of the model {model['id']} is damaged.")
    return manifest.parse(text).entries


def _lay_out(workspace: Workspace, model: ModelDocument, entries: Sequence[Entry], folder: Path) -> None:
    for entry in entries:
        place = folder / entry.path
        (place if entry.kind == FOLDER else place.parent).mkdir(parents=True, exist_ok=True)
    files = [entry for entry in entries if entry.kind == FILE]
    with progress(f"Fetching {model['id']}", sum(entry.size for entry in files)) as moved:
        left = _copied(workspace.service, files, folder, moved)
        small = [entry for entry in left if entry.size <= SMALL]
        for batch in _batches(small):
            _fetch(workspace.service, batch, folder, moved)

        def fetch(entry: Entry) -> None:
            where = f"{address(workspace, model['name'], model['version'], 'files')}/{quote(entry.path)}"
            what = f"{entry.path!r} of the model {model['id']}"
            file_transfer.download_from(workspace.service, where, what, folder / entry.path, None, moved)

        with ThreadPoolExecutor(THREADS) as pool:
            for done in [pool.submit(fetch, entry) for entry in left if entry.size > SMALL]:
                done.result()
    for entry in files:
        if entry.executable:
            place = folder / entry.path
            place.chmod(place.stat().st_mode | 0o111)
    for entry in entries:  # links come last, so that nothing is written through one
        if entry.kind == LINK:
            _link(entry, folder)


def _copied(service: Service, files: Sequence[Entry], folder: Path, moved: Moved) -> list[Entry]:
    """Copy from the store of this machine what can be; returns the rest."""
    if service.home is None:
        return list(files)
    left = []
    for entry in files:
        source = service.home / "objects" / entry.digest[:2] / entry.digest[2:]
        try:
            with source.open("rb") as stream:
                sound = _write(stream, entry, folder, moved)
        except (FileNotFoundError, PermissionError):
            sound = False
        if not sound:
            left.append(entry)  # the server says what is wrong with it
    return left


def _write(stream: BinaryIO, entry: Entry, folder: Path, moved: Moved) -> bool:
    """Write a file that appears whole, if its bytes have the hash that they should; whether they do."""
    seen = hashlib.sha256()
    target = folder / entry.path
    aside = target.with_name(f".{target.name[:200]}.{os.getpid()}.part")
    try:
        with aside.open("wb") as file:
            while True:
                chunk = stream.read(pack.CHUNK)
                if not chunk:
                    break
                seen.update(chunk)
                file.write(chunk)
                moved(len(chunk))
        if seen.hexdigest() != entry.digest:
            return False
        os.replace(aside, target)
        return True
    finally:
        if aside.exists():
            aside.unlink()


def _batches(entries: Sequence[Entry]) -> list[list[Entry]]:
    batches: list[list[Entry]] = []
    held = 0
    for entry in entries:
        if not batches or held + entry.size > A_REQUEST or len(batches[-1]) >= MOST_A_REQUEST:
            batches.append([])
            held = 0
        batches[-1].append(entry)
        held += entry.size
    return batches


def _fetch(service: Service, batch: Sequence[Entry], folder: Path, moved: Moved) -> None:
    places: dict[str, list[Path]] = {}
    for entry in batch:
        places.setdefault(entry.digest, []).append(folder / entry.path)
    with service.stream("/api/objects/fetch", method="POST", value={"hashes": list(places)}) as answer:
        for digest, _, chunks in pack.read(cast(BinaryIO, answer)):
            content = b"".join(chunks)
            if digest not in places or hashlib.sha256(content).hexdigest() != digest:
                raise WebserviceException(
                    f"A file of the model is damaged on the server's disk (object {digest}). Where the server runs, "
                    "`runyard doctor --deep` names all that are."
                )
            for place in places.pop(digest):
                _put(content, place)
                moved(len(content))
    if places:
        raise WebserviceException(f"The server did not send {len(places)} files of the model.")


def _put(content: bytes, target: Path) -> None:
    aside = target.with_name(f".{target.name[:200]}.{os.getpid()}.part")
    try:
        aside.write_bytes(content)
        os.replace(aside, target)
    finally:
        if aside.exists():
            aside.unlink()


def _link(entry: Entry, folder: Path) -> None:
    """A link of the model, unless it leads out of it."""
    reached = os.path.normpath(os.path.join(os.path.dirname(entry.path), entry.target))
    if PurePosixPath(entry.target).is_absolute() or reached.split("/")[0] != entry.path.split("/")[0]:
        notice(f"The link {entry.path} of the model leads out of it, to {entry.target!r}: it is left out.")
        return
    place = folder / entry.path
    if place.is_symlink() or place.is_file():
        place.unlink()
    os.symlink(entry.target, place)
