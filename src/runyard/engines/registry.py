"""The engines of this server: one for this machine, and one for each cluster that a target names."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

from runyard.contracts.compute import LOCAL_ENGINE, Target
from runyard.contracts.engines import BUILT_IN
from runyard.engines import discovery
from runyard.engines.base import Engine
from runyard.engines.folders import RunFolders
from runyard.engines.guard import GuardedEngine, guarded
from runyard.engines.local import LocalEngine


class Engines:
    """Finds the engine of a target. One that cannot be loaded is an EngineError of that target, and of no other."""

    def __init__(self, home: Path, places: int | None = None) -> None:
        self.folders = RunFolders(home / "runs")
        self.local = LocalEngine(self.folders, places)
        self._home = home
        self._lock = threading.Lock()
        self._clusters: dict[str, Engine] = {}

    def of(self, target: Target) -> Engine:
        """The engine of a target. Two targets with the same engine and options share one."""
        if target.engine == LOCAL_ENGINE:
            return self.local
        key = json.dumps([target.engine, target.options], sort_keys=True)
        with self._lock:
            if key not in self._clusters:
                self._clusters[key] = self._open(target)
            return self._clusters[key]

    def close(self) -> None:
        with self._lock:
            engines, self._clusters = list(self._clusters.values()), {}
        for engine in engines:
            engine.close()
        self.folders.close()

    def get_ready(self, sdk: Path) -> None:
        """What makes the first run on this machine start as fast as the others."""
        self.folders.nursery(str(sdk)).get_ready()

    def _open(self, target: Target) -> Engine:
        loaded = discovery.load(discovery.describe(target.engine))
        make = cast("Callable[[RunFolders, Path, Mapping[str, Any]], Engine]", loaded)
        if target.engine in BUILT_IN:
            return make(self.folders, self._home, target.options)
        with guarded(target.engine):
            return GuardedEngine(target.engine, make(self.folders, self._home, target.options))
