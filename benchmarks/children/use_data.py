"""Datasets through the SDK in a process that stays up, as a notebook does.

    use_data.py FOLDER      the folder with first_line.py

Each line of standard input is a JSON list: ["store", NAME, KIND, SETTINGS, SECRETS] registers a datastore, ["submit",
PIPE, NAME] submits a run that mounts all of that datastore (without a name: one without data) and prints the moment
before, ["wait"] waits for its end, ["lazy-above", SIZE] says from which size on datasets are mounted lazily, ["forget"]
empties the cache, ["unlink"] puts aside the links that were made for runs, ["server"] tells the process id of the
server, and ["download", NAME, FOLDER], ["mount", NAME] and ["list", NAME, FACTS] measure.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from pathlib import Path
from typing import Any

from azureml.core import Dataset, Datastore, Environment, Experiment, Run, ScriptRunConfig, Workspace

BLOCK = 1 << 20


class Datasets:
    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.workspace = Workspace.from_config()
        self.experiment = Experiment(self.workspace, "data")
        self.environment = Environment("user-managed-env")
        self.environment.python.user_managed_dependencies = True
        self.environment.python.interpreter_path = sys.executable
        self.run: Run | None = None

    def ask(self, action: str, *words: Any) -> dict[str, float]:
        answer: dict[str, float] = getattr(self, "_" + action.replace("-", "_"))(*words) or {}
        return answer

    def _store(self, name: str, kind: str, settings: dict[str, str], secrets: dict[str, str]) -> None:
        body = {"name": name, "kind": kind, "settings": settings, "secrets": secrets, "overwrite": True}
        self.workspace.service.post(f"/api/workspaces/{self.workspace.name}/datastores", body)

    def _lazy_above(self, size: str) -> None:
        address = f"/api/workspaces/{self.workspace.name}/settings/data.lazy-above"
        self.workspace.service.put(address, {"value": size})

    def _submit(self, pipe: str, name: str = "") -> dict[str, float]:
        arguments = [pipe, *([self._dataset(name).as_named_input("given").as_mount()] if name else [])]
        config = ScriptRunConfig(
            self.folder, "first_line.py", arguments, compute_target="local", environment=self.environment
        )
        at = time.time()
        self.run = self.experiment.submit(config)
        return {"at": at}

    def _wait(self) -> None:
        assert self.run is not None
        self.run.wait_for_completion(raise_on_error=True)

    def _server(self) -> dict[str, float]:
        from runyard.contracts.home import home, read_server

        running = read_server(home())
        assert running is not None
        return {"pid": running.pid}

    def _forget(self) -> None:
        from runyard.client.data.cache import FOLDER, Cache
        from runyard.contracts.home import home

        Cache(home() / FOLDER).collect(0)

    def _unlink(self) -> None:
        # Not removed: a file system takes longer to make files soon after many have gone.
        from runyard.client.data import trees
        from runyard.client.data.cache import FOLDER
        from runyard.contracts.home import home

        links = home() / FOLDER / trees.FOLDER
        if links.exists():
            links.rename(home() / f"links-{os.urandom(4).hex()}")

    def _download(self, name: str, folder: str) -> dict[str, float]:
        dataset = self._dataset(name)
        begin = time.perf_counter()
        found = dataset.download(folder)
        return {"seconds": time.perf_counter() - begin, "files": len(found)}

    def _mount(self, name: str) -> dict[str, float]:
        dataset = self._dataset(name)
        begin = time.perf_counter()
        with dataset.mount() as mounted:
            assert os.path.ismount(mounted.mount_point), "it is not mounted lazily"
            return read_all(Path(mounted.mount_point), begin)

    def _list(self, name: str, facts: bool) -> dict[str, float]:
        dataset = self._dataset(name)
        begin = time.perf_counter()
        files = len(dataset._listing().files if facts else dataset.to_path())
        took = time.perf_counter() - begin
        return {
            "seconds": took,
            "files": files,
            "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        }

    def _dataset(self, name: str) -> Any:
        return Dataset.File.from_files((Datastore.get(self.workspace, name), "**"))


def read_all(folder: Path, begin: float) -> dict[str, float]:
    """Read all files of a folder in their order: when the first byte was there, and the last."""
    first, count = 0.0, 0
    for above, inside, names in os.walk(folder):
        inside.sort()
        for name in sorted(names):
            with open(os.path.join(above, name), "rb", buffering=0) as file:
                while block := file.read(BLOCK if count else 1):
                    first = first or time.perf_counter() - begin
                    count += len(block)
    return {"first": first, "seconds": time.perf_counter() - begin, "bytes": count}


def main(folder: str) -> None:
    datasets = Datasets(folder)
    for line in sys.stdin:
        print("\n" + json.dumps(datasets.ask(*json.loads(line))), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
