"""The local engine: the nodes of a gang are node runners on this machine, each a process in a session of its own."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator, Sequence
from pathlib import Path

from runyard.contracts.compute import Node, Target
from runyard.contracts.plan import Plan
from runyard.engines import runners
from runyard.engines.base import Engine, EngineAway, EngineError, EngineEvents, Finding, Gang, Handle, Offer
from runyard.engines.folders import RunFolders, why
from runyard.engines.nursery import Nursery, NurseryEnded, Started, await_end
from runyard.system.folders import remove
from runyard.system.json_files import BadFile


def default_places() -> int:
    """Nodes of runs at once on this machine by default: some always, more with more cores."""
    return max(8, 2 * (os.cpu_count() or 1))


class LocalEngine(Engine):
    def __init__(self, folders: RunFolders, places: int | None = None) -> None:
        self._folders = folders
        self.places = places or default_places()

    def check(self, target: Target) -> None:
        """Anything may run here: a `vm_size` is a wish, and the machine gives what it has."""

    def offer(self) -> Offer:
        return Offer([Node(socket.gethostname(), "idle", address="127.0.0.1")])

    def start(self, gang: Gang, events: EngineEvents) -> Handle:
        folders = self._folders.make(gang)
        nursery = self._folders.nursery(gang.plans[0].sdk)
        started: list[Started] = []
        try:
            for folder in folders:
                started.append(self._start(nursery, folder))
        except OSError as error:
            for process in started:
                process.kill()
                process.wait()
            for folder in folders:
                remove(folder)
            kind = EngineAway if isinstance(error, NurseryEnded) else EngineError
            raise kind(why(error, folders[0])) from error
        events.placed(gang.run_id)
        return _watched(gang.run_id, started, events)

    def find(self, run_id: str, promise: Handle, events: EngineEvents) -> Handle | None:
        """The folders show which runners are at work. The others of the gang, for which those wait, are started if the
        server was killed before it could."""
        at_work = self._folders.at_work(run_id)
        if not any(at_work.values()):
            return None
        missing = [folder for folder, at in at_work.items() if at is None and not self._folders.begun_in(folder)]
        new = {folder: self._start_late(folder) for folder in missing}
        started = [
            _found(at) if at is not None else new[folder] for folder, at in at_work.items() if at or folder in new
        ]
        return _watched(run_id, started, events)

    def _start_late(self, folder: Path) -> Started:
        try:
            return self._start(self._folders.nursery(Plan.load(folder).sdk), folder)
        except OSError as error:
            raise EngineError(why(error, folder)) from error
        except BadFile as error:
            raise EngineError(f"The node runner could not be started in {folder}: {error}") from error

    def _start(self, nursery: Nursery, folder: Path) -> Started:
        try:
            return nursery.start(folder)
        except NurseryEnded:
            at_work = self._folders.take_back(folder)  # one that it has started, and did not report
            if at_work is None:
                raise
            return _found(at_work)

    def watch(self, run_id: str, handle: Handle, events: EngineEvents) -> bool:
        return runners.await_others(handle["nodes"], lambda how: events.gone(run_id, how))

    def stop(self, run_id: str, handle: Handle) -> None:
        """Where nobody of the handle lives, the locks of the folders show who is at work: one whose start was not
        reported, for example, because what starts runners did not answer in time."""
        if not self._folders.terminate(run_id, handle["nodes"]):
            at_work = [at for at in self._folders.at_work(run_id).values() if at is not None]
            self._folders.terminate(run_id, at_work)

    @classmethod
    def diagnose(cls, targets: Sequence[Target]) -> Iterator[Finding]:
        cores = os.cpu_count() or 1
        yield Finding(True, f"nodes are places on this machine, which has {cores} core{'' if cores == 1 else 's'}")


def _found(handle: Handle) -> Started:
    """A runner that was started, and whose nursery cannot report how it ends."""
    found = Started(handle)
    found.set_status(None)
    return found


def _watched(run_id: str, gang: Sequence[Started], events: EngineEvents) -> Handle:
    await_end(gang, lambda how: events.gone(run_id, how))
    return {"nodes": [process.handle for process in gang]}
