"""A folder with the logs of runs for TensorBoard to read: filled once, and kept up to date while runs go on.

TensorBoard remembers how far it has read each file. So a file only grows here, as its original does; one that was
written anew is replaced.
"""

from __future__ import annotations

import hashlib
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Callable

from runyard.client.http import ClientProblem, Unreachable, quote
from runyard.contracts import names
from runyard.contracts.formats.event_files import is_event_file
from runyard.contracts.states import TERMINAL
from runyard.sdk.exceptions import AzureMLException
from runyard.sdk.notices import notice_once
from runyard.sdk.run import file_transfer
from runyard.system.folders import walk

if TYPE_CHECKING:
    from runyard.contracts.documents import FileDocument
    from runyard.sdk.workspace.service import Service

LOGS = "logs/"
EVERY = 1.0
LONGEST_PAUSE = 15.0
CHUNK = 1 << 20


class Mirror:
    """The logs of one run, in a folder of their own."""

    def __init__(self, service: Service, run_id: str, folder: Path) -> None:
        self.run_id, self.folder = run_id, folder
        self._service = service
        self._whole: dict[str, str] = {}  # names of files that have ended, with their hashes

    def update(self) -> bool:
        """Fetch what is new; whether more can come."""
        # Asked before the files are listed: what is listed for a run that has ended is all there is.
        over = self._service.get(f"/api/runs/{quote(self.run_id)}")["status"] in TERMINAL
        listed = file_transfer.listed(self._service, self.run_id)
        files = {names.check_file(placed(file["name"])): file for file in reversed(listed) if is_shown(file["name"])}
        places = names.on_disk(files)
        for name, file in files.items():
            self._bring(file, self.folder / places[name])
        return not over

    def _bring(self, file: FileDocument, place: Path) -> None:
        if file["hash"] is not None and self._whole.get(file["name"]) == file["hash"]:
            return
        have = place.stat().st_size if place.is_file() else 0
        if have > file["size"]:
            place.unlink()  # another attempt has begun it anew
            have = 0
        if have < file["size"] or not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            self._append(file["name"], place, have)
        if file["hash"] is not None:
            if _hash(place) != file["hash"]:
                aside = place.with_name(f".{place.name[:200]}.new")
                file_transfer.download(self._service, self.run_id, file["name"], aside)
                aside.replace(place)
            self._whole[file["name"]] = file["hash"]

    def _append(self, name: str, place: Path, have: int) -> None:
        headers = {"Range": f"bytes={have}-"} if have else {}
        try:
            with self._service.client.stream(
                f"/api/runs/{quote(self.run_id)}/files/{quote(name)}", headers=headers
            ) as answer:
                if have and answer.status != 206:
                    return
                with place.open("ab") as target:
                    for chunk in answer:
                        target.write(chunk)
        except Unreachable:
            return  # the next look goes on from here
        except ClientProblem as problem:
            if problem.code not in ("bad_range", "file_not_found"):
                raise


class Follower:
    """Keeps mirrors up to date in a thread, until their runs have ended or it is stopped."""

    def __init__(self, mirrors: list[Mirror]) -> None:
        self._left = list(mirrors)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._work, name="mirror of logs for TensorBoard", daemon=True)

    def start(self, first: Callable[[int], None] = lambda done: None) -> None:
        """Returns when all that is there now has been fetched; errors of that come out here."""
        for mirror in list(self._left):
            if not mirror.update():
                self._left.remove(mirror)
            first(1)
        if self._left:
            self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()

    def _work(self) -> None:
        pause = EVERY
        while self._left and not self._stopped.wait(pause):
            pause = EVERY
            for mirror in list(self._left):
                try:
                    if not mirror.update():
                        self._left.remove(mirror)
                except (AzureMLException, ClientProblem, OSError) as error:
                    notice_once(f"tensorboard {mirror.run_id}", f"The logs of {mirror.run_id} wait: {error}")
                    pause = LONGEST_PAUSE
                if self._stopped.is_set():
                    return


def is_shown(name: str) -> bool:
    """Whether a file of a run's history is one for TensorBoard: all of `logs/`, and event files among the outputs.

    >>> [is_shown(name) for name in ("logs/a.txt", "outputs/tb/events.out.tfevents.1", "outputs/model.pt")]
    [True, True, False]
    """
    return name.startswith(LOGS) or is_event_file(name)


def placed(name: str) -> str:
    """Where below a run's folder a file goes: as below `./logs`.

    >>> placed("logs/train/events.out.tfevents.1"), placed("outputs/events.out.tfevents.1")
    ('train/events.out.tfevents.1', 'outputs/events.out.tfevents.1')
    """
    return name[len(LOGS) :] if name.startswith(LOGS) else name


def event_files(folder: Path) -> int:
    """How many event files there are in a folder and below."""
    return sum(is_event_file(name) for _, _, files in walk(str(folder)) for name in files)


def _hash(place: Path) -> str:
    digest = hashlib.sha256()
    with place.open("rb") as stream:
        while True:
            chunk = stream.read(CHUNK)
            if not chunk:
                return digest.hexdigest()
            digest.update(chunk)
