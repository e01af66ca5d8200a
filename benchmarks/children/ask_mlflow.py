"""MLflow's client at work, asked by lines on its standard input and answering in lines of JSON.

    ask_mlflow.py          MLFLOW_TRACKING_URI and MLFLOW_TRACKING_TOKEN say which server
    ask_mlflow.py FILE N   what a script in a run does: log N points, and write the seconds of the calls to FILE

Each line is a JSON list: ["log_metric", N], ["log_batch", N], ["search", N], ["ordered", N], ["history"],
["upload", BYTES], ["download"], ["clients", HOW_MANY, N], or ["through", ADDRESS] to ask a server from then on that
keeps nothing. The answer has the seconds of each call.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import mlflow
from mlflow import MlflowClient
from mlflow.entities import Metric

EXPERIMENT, SEARCHED, PAGE, POINTS = "measured", "list", 100, 1000


class Client:
    """One run that is logged to, and the experiment that it is in."""

    def __init__(self) -> None:
        self._client = MlflowClient()
        found = self._client.get_experiment_by_name(EXPERIMENT)
        self._experiment = found.experiment_id if found else self._client.create_experiment(EXPERIMENT)
        self._run = self._with_files = self._client.create_run(self._experiment).info.run_id
        self._searched = ""
        self._batches, self._kept = 0, 1
        self._folder = Path(tempfile.mkdtemp(prefix="artifact-"))

    def log_metric(self, count: int) -> list[float]:
        return [_timed(partial(self._client.log_metric, self._run, "loss", 0.5, step=step)) for step in range(count)]

    def log_batch(self, count: int) -> list[float]:
        seconds = []
        for _ in range(count):
            now, first = int(time.time() * 1000), self._batches * POINTS
            points = [Metric("many", float(step), now, step) for step in range(first, first + POINTS)]
            seconds.append(_timed(partial(self._client.log_batch, self._run, metrics=points)))
            self._batches += self._kept
        return seconds

    def through(self, address: str) -> list[float]:
        mlflow.set_tracking_uri(address)
        self._client, self._kept = MlflowClient(), 0
        # The client remembers for each run where its files are.
        self._with_files = self._client.create_run(self._experiment).info.run_id
        return []

    def search(self, count: int) -> list[float]:
        return [_timed(lambda: self._found("metrics.acc > 0.2 and params.lr = '1'")) for _ in range(count)]

    def ordered(self, count: int) -> list[float]:
        return [_timed(lambda: self._found("", ["metrics.acc DESC"])) for _ in range(count)]

    def _found(self, condition: str, order: list[str] | None = None) -> None:
        if not self._searched:
            found = self._client.get_experiment_by_name(SEARCHED)
            self._searched = found.experiment_id if found else ""
        if not self._client.search_runs([self._searched], condition, max_results=PAGE, order_by=order):
            raise SystemExit("the search found nothing")

    def history(self) -> list[float]:
        def read() -> None:
            found = len(self._client.get_metric_history(self._run, "many"))
            if found != self._batches * POINTS:
                raise SystemExit(f"{found} of {self._batches * POINTS} points came back")

        return [_timed(read)]

    def upload(self, size: int) -> list[float]:
        path = self._folder / "artifact.bin"
        piece = os.urandom(1 << 20)
        with path.open("wb") as file:
            for number in range(size >> 20):
                file.write(number.to_bytes(8, "big") + piece[8:])
        return [_timed(lambda: self._client.log_artifact(self._with_files, str(path)))]

    def download(self) -> list[float]:
        sent = (self._folder / "artifact.bin").stat().st_size
        place = Path(tempfile.mkdtemp(prefix="back-", dir=self._folder))
        seconds = _timed(lambda: self._client.download_artifacts(self._with_files, "artifact.bin", str(place)))
        if (place / "artifact.bin").stat().st_size != sent:
            raise SystemExit("the artifact came back with another size")
        return [seconds]

    def clients(self, how_many: int, count: int) -> list[float]:
        """So many processes that log at once; the seconds are those of all calls together, by call."""
        began = time.perf_counter()
        children = []
        for _ in range(how_many):
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    Client().log_metric(count)
                    code = 0
                finally:
                    os._exit(code)
            children.append(child)
        if any(os.waitpid(child, 0)[1] for child in children):
            raise SystemExit("a client failed")
        return [(time.perf_counter() - began) / (how_many * count)]


def _timed(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def in_a_run(file: str, count: int) -> None:
    with mlflow.start_run():
        mlflow.log_metric("loss", 0.0, step=0)  # what is loaded lazily
        seconds = [_timed(partial(mlflow.log_metric, "loss", 0.5, step=step)) for step in range(1, count + 1)]
    Path(file).write_text(json.dumps(seconds))


def main() -> None:
    client = Client()
    print("{}", flush=True)
    for line in sys.stdin:
        action, *more = json.loads(line)
        print(json.dumps({"seconds": getattr(client, action)(*more)}), flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        in_a_run(sys.argv[1], int(sys.argv[2]))
    else:
        main()
