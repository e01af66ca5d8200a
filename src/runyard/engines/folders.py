"""The folders of runs on this machine's disk: where node runners work that run here, or that share the disk.

What dead node runners left in them is delivered from here, whatever engine they ran on.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path

from runyard.contracts import names
from runyard.contracts.plan import OVER, Plan, node_folder, run_of_folder
from runyard.engines import runners
from runyard.engines.base import EngineError, EngineEvents, Gang, Handle
from runyard.engines.nursery import Nursery, await_end
from runyard.node.delivery import removal
from runyard.node.lock import take_lock
from runyard.system.folders import remove
from runyard.system.json_files import BadFile

SHORT = 1 << 14
"""Bytes of a manifest that is put into the plan."""

RESCUE = "rescue"
"""The key that marks the handle of a rescue; its value is that of the process."""


class RunFolders:
    def __init__(self, runs: Path) -> None:
        self.runs = runs
        self._nurseries: dict[str, Nursery] = {}
        for rest in runs.glob(".*.gone"):  # what a runner was removing when it was killed
            remove(rest)

    def of(self, run_id: str, node: int = 0) -> Path:
        return node_folder(self.runs, names.check("run", run_id), node)

    def make(self, gang: Gang) -> list[Path]:
        """The folder of each node of a gang, with its plan and the manifest of the snapshot; all of them or none."""
        made = []
        try:
            for plan in gang.plans:
                folder = self.of(plan.run_id, plan.node)
                made.append(folder)
                _make_private(str(folder), f"{folder}/streams")
                if gang.manifest is not None:
                    plan = _with_manifest(plan, gang.manifest, folder)
                plan.save(folder)
        except OSError as error:
            for folder in made:
                remove(folder)
            raise EngineError(why(error, self.runs)) from error
        return made

    def take_back(self, folder: Path) -> Handle | None:
        """Remove the folder of a node, so that no runner that was requested can begin in it any more; the runner that
        has begun, if there is one, and then the folder stays."""
        lock = take_lock(folder)
        if lock is None:
            return runners.holder(folder / "runner.lock")
        with lock:
            remove(folder)
        return None

    def nursery(self, sdk: str) -> Nursery:
        """What starts node runners in these folders, with the code of an SDK folder."""
        return self._nurseries.setdefault(sdk, Nursery(Path(sdk)))

    def close(self) -> None:
        """Nothing is started any more. What was started goes on."""
        for nursery in self._nurseries.values():
            nursery.close()

    def rescue(self, run_id: str, events: EngineEvents) -> Handle | None:
        """Deliver what dead node runners left behind, and end what they left alive. None: there is nothing of it."""
        folder = self.to_rescue(run_id)
        if folder is None:
            return None
        alive = runners.holder(folder / "runner.lock")
        if alive is not None and self.watch(run_id, {RESCUE: alive}, events):
            return {RESCUE: alive}
        try:
            (folder / "streams").mkdir(exist_ok=True, mode=0o700)
            process = self.nursery(Plan.load(folder).sdk).start(folder, "--rescue")
        except OSError as error:
            raise EngineError(why(error, folder)) from error
        except BadFile as error:
            raise EngineError(f"What node runners left in {folder} cannot be delivered: {error}") from error
        await_end([process], lambda how: events.gone(run_id, how))
        return {RESCUE: process.handle}

    def give_up(self, run_id: str) -> None:
        """Have whoever comes next deliver what is left of a run, and go on with nothing of it."""
        with suppress(OSError):
            (self.of(run_id) / OVER).touch()

    def to_rescue(self, run_id: str) -> Path | None:
        """The folder that a rescuer goes to. From that of node 0 it looks after those of the other nodes too; once that
        one is gone, somebody must go to the others themselves."""
        own = self.of(run_id)
        if (own / "plan.json").is_file():
            return own
        return next(filter(_worked_in, self._of_all_nodes(run_id)), None)

    def watch(self, run_id: str, handle: Handle, events: EngineEvents) -> bool:
        """Take up the watch of a rescue after a restart of the server. False when it is gone."""
        return runners.await_others([handle[RESCUE]], lambda how: events.gone(run_id, how))

    def stop(self, run_id: str, handle: Handle) -> None:
        """Ask a rescue to end."""
        self.terminate(run_id, [handle[RESCUE]])

    def terminate(self, run_id: str, handles: Sequence[Handle]) -> bool:
        """Ask the first node runner of a run that lives to stop; False: none does. One whose folder is gone has ended
        its run, and may be at work for another."""
        with ExitStack() as held:
            for nursery in list(self._nurseries.values()):
                held.enter_context(nursery.none_starts())
            return self.exist(run_id) and runners.terminate(handles)

    def begun(self, run_id: str) -> bool:
        """Whether a node runner has ever been at work here for a run."""
        return any(map(self.begun_in, self._of_all_nodes(run_id)))

    def begun_in(self, folder: Path) -> bool:
        """Whether a node runner has ever been at work in the folder of a node."""
        return (folder / "state.json").exists() or runners.holder(folder / "runner.lock") is not None

    def at_work(self, run_id: str) -> dict[Path, Handle | None]:
        """The folders of a run's nodes, that of node 0 first, and the node runner that is at work in each."""
        folders = [folder for folder in self._of_all_nodes(run_id) if (folder / "plan.json").is_file()]
        return {folder: runners.holder(folder / "runner.lock") for folder in folders}

    def worked_in(self, run_id: str) -> bool:
        """Whether a node runner may have left something of a run here."""
        return any(map(_worked_in, self._of_all_nodes(run_id)))

    def exist(self, run_id: str) -> bool:
        """Whether a run has a folder here."""
        return bool(self._of_all_nodes(run_id))

    def left(self) -> list[str]:
        """The runs that have a folder here."""
        try:
            return sorted({run_of_folder(name) for name in os.listdir(self.runs) if not name.startswith(".")})
        except FileNotFoundError:
            return []

    def clear(self, run_id: str) -> None:
        """Remove the folders of a run: nobody wants it, or everything was delivered. A node runner that is at work
        there does that itself."""
        for folder in self._of_all_nodes(run_id):
            if runners.holder(folder / "runner.lock") is None:
                removal.remove(folder)

    def _of_all_nodes(self, run_id: str) -> list[Path]:
        own, others = self.of(run_id), f"{run_id}@"
        try:
            named = sorted(name for name in os.listdir(self.runs) if name.startswith(others))
        except FileNotFoundError:
            return []
        return [path for path in (own, *(self.runs / name for name in named)) if path.is_dir()]


def _make_private(*folders: str) -> None:
    """Make folders for this user alone, and what is above the first."""
    for each in folders:
        try:
            os.mkdir(each, 0o700)
        except FileExistsError:
            continue
        except FileNotFoundError:
            os.makedirs(os.path.dirname(each), mode=0o700, exist_ok=True)
            os.mkdir(each, 0o700)


def _with_manifest(plan: Plan, manifest: bytes, folder: Path) -> Plan:
    """A short manifest goes with the plan, and saves a file; a long one is put beside it."""
    if len(manifest) <= SHORT:
        with suppress(UnicodeDecodeError):
            return replace(plan, manifest=manifest.decode("utf-8"))
    (folder / "manifest").write_bytes(manifest)
    return plan


def _worked_in(folder: Path) -> bool:
    """Whether a node runner has ever been at work in a folder. On a full disk it may have left no state."""
    return (folder / "plan.json").is_file() and any((folder / name).exists() for name in ("state.json", "runner.lock"))


def why(error: OSError, folder: Path) -> str:
    """What went wrong with a run's folder, as a message."""
    if error.errno == errno.ENOSPC:
        return f"There is no space left on the disk of {folder}. Free some, for example with `runyard rm`."
    return f"The node runner could not be started in {folder}: {error.strerror or error}."
