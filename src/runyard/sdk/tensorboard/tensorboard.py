"""`Tensorboard`, SDK v1's: TensorBoard on this machine over the logs of runs, of those that go on too."""

from __future__ import annotations

import atexit
import re
import shutil
import tempfile
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Iterable

from runyard.sdk.exceptions import UserErrorException
from runyard.sdk.tensorboard import viewer
from runyard.sdk.tensorboard.mirror import LOGS, Follower, Mirror

if TYPE_CHECKING:
    from os import PathLike

    from runyard.sdk.run.run import Run


class Tensorboard:
    """TensorBoard for runs: `tb = Tensorboard([run1, run2]); tb.start(); ...; tb.stop()`.

    What the runs write to `./logs`, and event files among their outputs, is copied to `local_root`, a folder each,
    and followed until they end.
    """

    LOGS_ARTIFACT_PREFIX = LOGS

    def __init__(
        self,
        runs: Run | Iterable[Run],
        local_root: str | PathLike[str] | None = None,
        port: int = viewer.DEFAULT_PORT,
        use_display_name: bool = False,
    ) -> None:
        self._runs = checked(runs)
        self._local_root, self._port = local_root, port
        self._use_display_name = use_display_name
        self._temporary: str | None = None
        self._viewer: viewer.Viewer | None = None
        self._follower: Follower | None = None

    def start(self, start_browser: bool = False) -> str:
        """Start TensorBoard; returns its address, and prints it."""
        if self._viewer is not None:
            raise UserErrorException("This Tensorboard has been started already. Call stop() first.")
        command = viewer.command()
        if command is None:
            raise UserErrorException(
                "TensorBoard is not in this environment. Install it: pip install tensorboard (it does not need "
                "TensorFlow). Or call `runyard tensorboard` in a shell, which needs nothing here."
            )
        root = self._root()
        names = folder_names([run.display_name if self._use_display_name else None for run in self._runs], self._runs)
        self._follower = Follower(
            [Mirror(run._service, run.id, root / name) for run, name in zip(self._runs, names)],
        )
        atexit.register(self.stop)
        try:
            self._follower.start()
            self._viewer = viewer.Viewer(command, root, self._port)
            address = self._viewer.start()
        except BaseException:
            self.stop()
            raise
        print(address, flush=True)
        if start_browser:
            webbrowser.open(address)
        return address

    def stop(self) -> None:
        """End TensorBoard. A folder that was made for it goes too."""
        atexit.unregister(self.stop)
        if self._viewer is not None:
            self._viewer.stop()
        if self._follower is not None:
            self._follower.stop()
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)
        self._viewer = self._follower = self._temporary = None

    def _root(self) -> Path:
        if self._local_root is None:
            self._temporary = tempfile.mkdtemp(prefix="tensorboard-")
            return Path(self._temporary)
        root = Path(self._local_root)
        root.mkdir(parents=True, exist_ok=True)
        return root


def checked(runs: object) -> list[Run]:
    """The runs that were given, one or several."""
    from runyard.sdk.run.run import Run

    given = list(runs) if isinstance(runs, Iterable) else [runs]
    if not given:
        raise UserErrorException("There is no run to show: the list is empty.")
    found: dict[str, Run] = {}
    for each in given:
        if not isinstance(each, Run):
            kind = type(each).__name__
            raise UserErrorException(f"A run of a workspace is needed here, not a value of the type {kind}.")
        found[each.id] = each
    return list(found.values())


def folder_names(shown: list[str | None], runs: list[Run]) -> list[str]:
    """A folder's name for each run: its id, or the name that it is shown under, made fit for a path and for one run."""
    taken: set[str] = set()
    names = []
    for name, run in zip(shown, runs):
        fit = re.sub(r"[^\w.\- ]", "_", name or "")[:100].strip(". ") or run.id
        names.append(fit if fit not in taken else f"{fit} ({run.id})")
        taken.add(names[-1])
    return names
