"""Log points with one tool, in the tool's own interpreter, as a training loop does.

    log_points.py TOOL time FOLDER POINTS      log and wait until stored; prints the seconds of both
    log_points.py TOOL forever FOLDER COUNTER  log until killed; the count of calls that returned is kept in COUNTER
    log_points.py TOOL count FOLDER            how many points of the run that was killed are in the store in the end

FOLDER is the tool's own: its store is made there at first use, and each call with `time` or `forever` is a new run.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
import sys
import time
import uuid
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

METRIC = "loss"
BATCH = 1000


class Tool(ABC):
    """One way of logging. `begin` comes before the others, except before `count`, which another process may ask."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        os.chdir(folder)  # some tools leave files where they are called

    @abstractmethod
    def begin(self) -> str:
        """Begin a run; returns what `count` needs to find it again."""

    @abstractmethod
    def log(self, value: float, step: int) -> None:
        """What stands in the training loop."""

    @abstractmethod
    def settle(self) -> None:
        """Return when everything logged so far is stored."""

    @abstractmethod
    def count(self, run: str) -> int:
        """The points that the store has."""


class Jsonl(Tool):
    """The floor: one line per point in a file, handed to the operating system at once."""

    def begin(self) -> str:
        name = uuid.uuid4().hex
        self._file = (self.folder / name).open("w", encoding="utf-8")
        return name

    def log(self, value: float, step: int) -> None:
        self._file.write(json.dumps({"name": METRIC, "value": value, "step": step, "time": time.time()}) + "\n")
        self._file.flush()

    def settle(self) -> None:
        self._file.flush()

    def count(self, run: str) -> int:
        return (self.folder / run).read_bytes().count(b"\n")


class Runyard(Tool):
    """An interactive run against a server on this machine; RUNYARD_HOME says which."""

    def begin(self) -> str:
        from azureml.core import Experiment, Workspace

        experiment = Experiment(Workspace.from_config(), "logging")
        self._run = experiment.start_logging(outputs=False, snapshot_directory=None)
        return str(self._run.id)

    def log(self, value: float, step: int) -> None:
        self._run.log(METRIC, value)

    def settle(self) -> None:
        self._run.flush()

    def count(self, run: str) -> int:
        from azureml.core import Workspace

        values = Workspace.from_config().get_run(run).get_metrics(METRIC).get(METRIC, [])
        return len(values) if isinstance(values, list) else 1

    def recover(self, run: str) -> None:
        """Wait until the run has ended on the server: by then, all that its process had left behind is there."""
        from azureml.core import Workspace

        Workspace.from_config().get_run(run).wait_for_completion(raise_on_error=False)


class Mlflow(Tool):
    """`mlflow.log_metric` into SQLite, with no server in between: MLflow's fastest way that keeps every point."""

    def begin(self) -> str:
        import mlflow

        mlflow.set_tracking_uri(f"sqlite:///{self.folder}/mlflow.db")
        self._log = mlflow.log_metric
        return str(mlflow.start_run().info.run_id)

    def log(self, value: float, step: int) -> None:
        self._log(METRIC, value, step=step)

    def settle(self) -> None:
        """Every call has returned after its commit."""

    def count(self, run: str) -> int:
        return _rows(self.folder / "mlflow.db", "run_uuid", run)


class MlflowBatch(Mlflow):
    """`MlflowClient.log_batch` with 1,000 points a call: the script must gather them itself."""

    def begin(self) -> str:
        from mlflow import MlflowClient
        from mlflow.entities import Metric

        self._run = super().begin()
        self._client, self._metric, self._gathered = MlflowClient(), Metric, list[Any]()
        return self._run

    def log(self, value: float, step: int) -> None:
        self._gathered.append(self._metric(METRIC, value, int(time.time() * 1000), step))
        if len(self._gathered) == BATCH:
            self.settle()

    def settle(self) -> None:
        if self._gathered:
            self._client.log_batch(self._run, metrics=self._gathered)
            self._gathered = []


class Trackio(Tool):
    """`trackio.log` into its SQLite file; a thread writes twice a second."""

    def begin(self) -> str:
        os.environ["TRACKIO_DIR"] = str(self.folder)
        import trackio

        self._trackio = trackio
        name = uuid.uuid4().hex
        trackio.init(project="logging", name=name, auto_log_gpu=False, auto_log_cpu=False)
        return name

    def log(self, value: float, step: int) -> None:
        self._trackio.log({METRIC: value}, step=step)

    def settle(self) -> None:
        self._trackio.finish()

    def count(self, run: str) -> int:
        return _rows(self.folder / "logging.db", "run_name", run)


TOOLS: dict[str, type[Tool]] = {
    "jsonl": Jsonl,
    "runyard": Runyard,
    "mlflow": Mlflow,
    "mlflow-batch": MlflowBatch,
    "trackio": Trackio,
}


def timed(tool: Tool, points: int) -> dict[str, float]:
    """Log some points. A few go first and do not count: what a tool does once is not the cost of a call."""
    run = tool.begin()
    for step in range(10):
        tool.log(1.0, step)
    values = [1.0 / (step + 1) for step in range(points)]
    log = tool.log
    began = time.perf_counter()
    for step, value in enumerate(values, 10):
        log(value, step)
    returned = time.perf_counter()
    tool.settle()
    stored = time.perf_counter()
    found = tool.count(run)
    if found != points + 10:
        raise SystemExit(f"{points + 10} points were logged, {found} are stored")
    return {"call": (returned - began) / points, "points_per_second": points / (stored - began)}


def forever(tool: Tool, counter: Path) -> None:
    """Log until killed. The counter is memory shared with the file, so it is right up to the last call."""
    (tool.folder / "latest").write_text(tool.begin(), "utf-8")
    with counter.open("r+b") as file:
        shared = mmap.mmap(file.fileno(), 8)
    step = 0
    while True:
        tool.log(1.0 / (step + 1), step)
        step += 1
        struct.pack_into("=q", shared, 0, step)


def _rows(database: Path, column: str, run: str) -> int:
    import sqlite3

    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
        asked = f"SELECT count(*) FROM metrics WHERE {column} = ?"
        return int(connection.execute(asked, (run,)).fetchone()[0])


def main(name: str, action: str, folder: str, *more: str) -> None:
    tool = TOOLS[name](Path(folder))
    if action == "time":
        print(json.dumps(timed(tool, int(more[0]))))
    elif action == "forever":
        forever(tool, Path(more[0]))
    else:
        run = (tool.folder / "latest").read_text("utf-8")
        if isinstance(tool, Runyard):
            tool.recover(run)
        print(json.dumps(tool.count(run)))


if __name__ == "__main__":
    main(*sys.argv[1:])
