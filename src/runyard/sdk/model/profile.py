"""`Model.profile`: a real service of each size that the machine can hold, measured over a dataset of requests."""

from __future__ import annotations

import math
import os
import threading
import uuid
from typing import TYPE_CHECKING, Any, Sequence

from runyard.sdk.exceptions import AzureMLException, UserErrorException, WebserviceException
from runyard.sdk.model.measuring import Measurement, measured
from runyard.sdk.webservice.deployment_configuration import checked_service_name

if TYPE_CHECKING:
    from runyard.sdk.model.inference_config import InferenceConfig
    from runyard.sdk.model.model import Model
    from runyard.sdk.tables.tabular_dataset import TabularDataset
    from runyard.sdk.webservice.webservice import Webservice
    from runyard.sdk.workspace.workspace import Workspace

RUNNING, SUCCEEDED, FAILED = "Running", "Succeeded", "Failed"
LEAST_CPU, MOST_CPU = 0.1, 3.5
LEAST_MEMORY, MOST_MEMORY = 0.1, 15.0
GOOD_ENOUGH = 0.8
"""The smallest size with this part of the best throughput is recommended: what comes after it costs more than it
brings."""
SPARE_MEMORY = 1.25
MOST_REQUESTS = 10_000
GIGABYTE = 1 << 30
_PERCENTILES = {"50": 50.0, "90": 90.0, "95": 95.0, "99": 99.0, "999": 99.9}


def profile(
    workspace: Workspace,
    profile_name: str,
    models: Sequence[Model],
    inference_config: InferenceConfig | None,
    input_dataset: TabularDataset,
    cpu: float | None = None,
    memory_in_gb: float | None = None,
    description: str | None = None,
) -> ModelProfile:
    """Begin to measure, and return while it goes on."""
    checked_service_name(profile_name, "profile")
    _check_amount("cpu", cpu, LEAST_CPU, MOST_CPU)
    _check_amount("memory_in_gb", memory_in_gb, LEAST_MEMORY, MOST_MEMORY)
    bodies = requests_in(input_dataset)
    made = ModelProfile(workspace, profile_name, description, input_dataset)
    made._begin(_Job(workspace, models, inference_config, bodies, cpu, memory_in_gb))
    return made


def requests_in(dataset: TabularDataset) -> list[bytes]:
    """The requests in a dataset of one column of texts; UserErrorException for any other."""
    from runyard.sdk.tables.tabular_dataset import TabularDataset

    if not isinstance(dataset, TabularDataset):
        raise UserErrorException(
            f"input_dataset is a TabularDataset with one column of requests as texts, not a {type(dataset).__name__}."
        )
    table = dataset._table()
    requests: list[bytes] = []
    for batch in table.batches():
        names = table.engine.names(batch)
        if len(names) != 1:
            raise UserErrorException(
                f"input_dataset has the columns {', '.join(names[:10])}: it must have one, with a request in each row."
            )
        for value in table.engine.values(batch, names[0]):
            if not isinstance(value, str):
                raise UserErrorException(
                    f"The column {names[0]!r} of input_dataset has values of the type {type(value).__name__}: each row "
                    "must be a request as a text, such as '{\"data\": [[1, 2]]}'."
                )
            requests.append(value.encode("utf-8"))
        if len(requests) >= MOST_REQUESTS:
            break
    if not requests:
        raise UserErrorException("input_dataset has no rows: give it one request or more.")
    return requests


class ModelProfile:
    """A measurement under way, or its result."""

    def __init__(
        self,
        workspace: Workspace,
        name: str,
        description: str | None = None,
        input_dataset: TabularDataset | None = None,
    ) -> None:
        self.workspace = workspace
        self.name = name
        self.description = description
        self.input_dataset = input_dataset
        self.state = RUNNING
        self.error: dict[str, Any] | None = None
        self._sizes: list[dict[str, Any]] = []
        self._details: dict[str, Any] = {}
        self._thread: threading.Thread | None = None
        self._news = threading.Condition()

    def _begin(self, job: _Job) -> None:
        # Not a daemon: a script that ends early still takes its service away.
        self._thread = threading.Thread(target=self._measure, args=(job,), name=f"profile-{self.name}")
        self._thread.start()

    def _measure(self, job: _Job) -> None:
        try:
            for cores in job.sizes():
                found = job.size(cores)
                with self._news:
                    self._sizes.append(found)
                    self._news.notify_all()
            details = job.chosen(self._sizes)
            state, error = SUCCEEDED, None
        except AzureMLException as failed:
            details, state, error = {}, FAILED, {"code": type(failed).__name__, "message": failed.message}
        except Exception as failed:  # noqa: BLE001 - a thread has nobody to raise to: whoever waits is told
            details, state, error = {}, FAILED, {"code": type(failed).__name__, "message": str(failed)}
        with self._news:
            self._details, self.state, self.error = details, state, error
            self._news.notify_all()

    def wait_for_completion(self, show_output: bool = False) -> None:
        """Wait for the end of the measurement; WebserviceException with the cause when it failed."""
        shown = 0
        while True:
            with self._news:
                while len(self._sizes) == shown and self.state == RUNNING:
                    self._news.wait()
                fresh, ended = self._sizes[shown:], self.state != RUNNING
            shown += len(fresh)
            for each in fresh if show_output else ():
                print(_line(each), flush=True)
            if ended:
                break
        if self._thread is not None:
            self._thread.join()
        if self.state != SUCCEEDED:
            said = (self.error or {}).get("message", "")
            raise WebserviceException(f"The profile {self.name!r} failed: {said}", details=self.error)
        if show_output:
            cores, memory = self._details["recommendedCpu"], self._details["recommendedMemoryInGB"]
            print(f"{SUCCEEDED}: {cores:g} cores and {memory:g} GB are recommended.")

    def get_details(self) -> dict[str, Any]:
        """What was measured, by SDK v1's names, and `sizes` with a dictionary for each size that was tried. What is
        not known is left out."""
        told = {"name": self.name, "state": self.state, **self._details}
        if self.error is not None:
            told["error"] = self.error
        if self._sizes:
            told["sizes"] = [dict(each) for each in self._sizes]
        return {key: value for key, value in told.items() if value is not None}

    def serialize(self) -> dict[str, Any]:
        """The profile as a dictionary, ready for JSON."""
        return {**self.get_details(), "description": self.description}

    def __repr__(self) -> str:
        return f"ModelProfile(workspace={self.workspace.name!r}, name={self.name!r}, state={self.state!r})"

    def _repr_html_(self) -> str:
        from runyard.sdk.notebook import table

        rows = [tuple(_cells(each)) for each in self._sizes]
        return table(("Cores", "Memory", "Requests per second", "p50", "p99", "Succeeded"), rows)


class _Job:
    """What is measured."""

    def __init__(
        self,
        workspace: Workspace,
        models: Sequence[Model],
        inference_config: InferenceConfig | None,
        bodies: list[bytes],
        cpu: float | None,
        memory_in_gb: float | None,
    ) -> None:
        self._workspace, self._models, self._config = workspace, models, inference_config
        self._bodies, self._cpu, self._memory = bodies, cpu, memory_in_gb

    def sizes(self) -> list[int]:
        """Numbers of cores that are tried: powers of two up to what was asked for, or to what the machine has."""
        most = math.ceil(self._cpu) if self._cpu is not None else min(os.cpu_count() or 1, math.floor(MOST_CPU))
        return sorted({1, most, *(2**power for power in range(10) if 2**power <= most)})

    def size(self, cores: int) -> dict[str, Any]:
        """One service of this size, measured and taken away."""
        from runyard.sdk.model.deploying import deploy
        from runyard.sdk.webservice.aci import AciWebservice

        config = AciWebservice.deploy_configuration(cpu_cores=cores, memory_gb=self._memory)
        config._workers = cores
        service = deploy(self._workspace, f"profile-{uuid.uuid4().hex[:12]}", self._models, self._config, config)
        try:
            service._await_deployment(None, None)
            result = measured(str(service.scoring_uri), self._bodies, service._headers(), 2 * cores)
            return self._figures(cores, result, _memory_of(service))
        finally:
            service.delete()

    def _figures(self, cores: int, result: Measurement, memory: int | None) -> dict[str, Any]:
        if not result.succeeded:
            said = next(iter(result.refused), "nothing was asked")
            raise WebserviceException(f"No request of the dataset was answered: {said}.")
        figures: dict[str, Any] = {
            "cpu": cores,
            "memoryInGB": self._memory,
            "maxUtilizedMemoryInGB": None if memory is None else round(memory / GIGABYTE, 3),
            "totalQueries": result.asked,
            "successQueries": result.succeeded,
            "successRate": round(100.0 * result.succeeded / result.asked, 2),
            "averageLatencyInMs": _rounded(result.average),
            "measuredQueriesPerSecond": _rounded(result.per_second),
        }
        for name, percent in _PERCENTILES.items():
            figures[f"latencyPercentile{name}InMs"] = _rounded(result.percentile(percent))
        return figures

    def chosen(self, sizes: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """SDK v1's details: the figures of the size that is recommended."""
        best = max(each["measuredQueriesPerSecond"] for each in sizes)
        size = next(each for each in sizes if each["measuredQueriesPerSecond"] >= GOOD_ENOUGH * best)
        used = size["maxUtilizedMemoryInGB"]
        memory = self._memory if used is None else max(LEAST_MEMORY, math.ceil(used * SPARE_MEMORY * 10) / 10)
        measured_values = {key: value for key, value in size.items() if key not in ("cpu", "memoryInGB")}
        return {
            "requestedCpu": self._cpu if self._cpu is not None else max(each["cpu"] for each in sizes),
            "requestedMemoryInGB": self._memory,
            **measured_values,
            "recommendedCpu": float(size["cpu"]),
            "recommendedMemoryInGB": memory if memory is not None else LEAST_MEMORY,
        }


def _memory_of(service: Webservice) -> int | None:
    """The bytes that the service's replicas use together, where the server knows."""
    service.update_deployment_state()
    known = [each.get("memory") for each in service._document.get("replicas") or ()]
    return sum(each for each in known if each) or None


def _check_amount(name: str, value: float | None, least: float, most: float) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value <= most:
        raise UserErrorException(f"{name} must be a number from {least:g} to {most:g}, not {value!r}.")


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def _cells(size: dict[str, Any]) -> list[str]:
    used = size["maxUtilizedMemoryInGB"]
    return [
        str(size["cpu"]),
        "" if used is None else f"{used:g} GB",
        f"{size['measuredQueriesPerSecond']:,.0f}",
        f"{size['latencyPercentile50InMs']:g} ms",
        f"{size['latencyPercentile99InMs']:g} ms",
        f"{size['successRate']:g} %",
    ]


def _line(size: dict[str, Any]) -> str:
    cores, memory, rate, median, high, right = _cells(size)
    figures = [f"{rate} requests per second", f"p50 {median}", f"p99 {high}", f"{right} answered", memory]
    return f"{cores} cores: {', '.join(each for each in figures if each)}"
