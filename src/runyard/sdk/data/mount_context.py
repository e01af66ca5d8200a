"""The files of a dataset as a folder of the user's machine, from `start` (or `with`) to `stop` or the process's end."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import runyard
from runyard.client.http import quote
from runyard.sdk.exceptions import UserErrorException

if TYPE_CHECKING:
    from types import TracebackType

    from runyard.client.data.cache import Cache, Lease
    from runyard.client.data.listing import Listing
    from runyard.client.data.mounts import Mounted
    from runyard.sdk.data.file_dataset import FileDataset


class MountContext:
    """A folder with the files of a dataset. It exists from `start` (or `with`) to `stop`."""

    def __init__(self, dataset: FileDataset, mount_point: str | None = None) -> None:
        self._dataset = dataset
        self._place = Path(mount_point).absolute() if mount_point else None
        self._process = 0  # that which has started it: a fork does not take it away
        self._lease: Lease | None = None
        self._mounted: Mounted | None = None

    @property
    def mount_point(self) -> str:
        if self._place is None:
            self._place = Path(tempfile.mkdtemp(prefix="mount-"))
        return str(self._place)

    def start(self) -> None:
        place = Path(self.mount_point)
        if self._process or (place.exists() and (not place.is_dir() or any(place.iterdir()))):
            raise UserErrorException(f"{place} is not empty. Mount into a folder that is empty, or does not exist.")
        from runyard.client.data.cache import FOLDER, Cache
        from runyard.contracts.home import home

        listing = self._dataset._listing()
        place.mkdir(parents=True, exist_ok=True)
        self._process = os.getpid()
        atexit.register(self.stop)
        cache = Cache(home() / FOLDER)
        self._lease = cache.lease()
        try:
            if not self._lazily(place, listing, cache):
                places = (Path(f"{place}{path}") for path in listing.mounted())
                self._dataset._bring(listing, places, self._lease)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Remove the folder. What it links to stays."""
        if self._process != os.getpid():
            return
        self._process = 0
        atexit.unregister(self.stop)
        if self._mounted is not None:
            self._mounted.end()
            self._mounted = None
        shutil.rmtree(self.mount_point, ignore_errors=True)
        if self._lease is not None:
            self._lease.release()
            self._lease = None

    def _lazily(self, place: Path, listing: Listing, cache: Cache) -> bool:
        """Mount what is too large to be fetched, where that can be had; whether it was."""
        above = listing.mounting.get("above")
        if above is None or listing.bytes <= above:
            return False
        from runyard.client.data.lazily import missing, mount_lazily
        from runyard.client.data.mounts import NotMounted, detach_dead

        lacks = missing(listing, cache, above)
        if lacks is None:
            return False
        detach_dead()  # of a notebook that was killed together with the process of its mount
        here = self._dataset._saved()
        workspace = f"/api/workspaces/{quote(here.name)}"
        dataset = f"{workspace}/datasets/{quote(str(self._dataset.id))}"
        pythons = [sys.executable, str(listing.mounting.get("python") or "")]
        sdk = Path(runyard.__file__).parent.parent
        locator = here.service.client.locator
        try:
            self._mounted = mount_lazily(place, listing, lacks, cache.folder, locator, workspace, dataset, sdk, pythons)
        except NotMounted as why:
            warnings.warn(f"{lacks.bytes:,} bytes are fetched now, not as they are read: {why}.", stacklevel=4)
        return self._mounted is not None

    def __enter__(self) -> MountContext:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
