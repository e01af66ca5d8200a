"""A server that speaks MLflow's protocol, to be read from or written to: MLflow's own, or ours."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from functools import partial
from typing import Any, BinaryIO, cast
from urllib.parse import quote, urlencode, urlsplit

from runyard.cli.errors import CommandError
from runyard.cli.transfer.records import Opened, Point, SourceExperiment, SourceModel, SourceRun, SourceVersion

PAGE = 1000
POINTS = 25_000
PIECE = 1 << 18
PROXIED = "mlflow-artifacts:"

Json = dict[str, Any]


class Refusal(CommandError):
    """The server refused a request; `error` is MLflow's code."""

    def __init__(self, error: str, message: str) -> None:
        super().__init__(message, code="refused")
        self.error = error


class MlflowServer:
    """One address, and what it is shown there: a token, or a user's name with a password."""

    def __init__(self, address: str, authorization: str | None = None) -> None:
        self.name = address.rstrip("/")
        self._parts = urlsplit(self.name)
        self._authorization = authorization
        self._logged: dict[str, tuple[str, str]] | None = None

    def call(self, method: str, path: str, value: Json | None = None, /, **query: Any) -> Json:
        """A request of `api/2.0/mlflow`."""
        asked = {name: text for name, text in query.items() if text is not None}
        address = f"api/2.0/mlflow/{path}" + (f"?{urlencode(asked, doseq=True)}" if asked else "")
        body = None if value is None else json.dumps(value).encode()
        with closing(self._request(method, address, body, {"Content-Type": "application/json"})) as response:
            answer = json.loads(response.read() or b"{}")
        return cast(Json, answer)

    def put_file(self, path: str, pieces: Iterable[bytes]) -> None:
        headers = {"Content-Type": "application/octet-stream", "Transfer-Encoding": "chunked"}
        with closing(self._request("PUT", f"api/2.0/mlflow-artifacts/artifacts/{quote(path)}", pieces, headers)):
            pass

    def open_file(self, path: str) -> BinaryIO:
        return cast(BinaryIO, self._request("GET", f"api/2.0/mlflow-artifacts/artifacts/{quote(path)}", None, {}))

    def pages(self, name: str, method: str, path: str, /, **asked: Any) -> Iterator[Json]:
        """What a search gives, page by page."""
        token: str | None = None
        while True:
            more = {"page_token": token} if token else {}
            if method == "POST":
                answer = self.call(method, path, {**asked, **more})
            else:
                answer = self.call(method, path, None, **asked, **more)
            yield from answer.get(name) or ()
            token = answer.get("next_page_token")
            if not token:
                return

    # -- as a source --------------------------------------------------------------------------------------------------

    def experiments(self) -> list[SourceExperiment]:
        found = self.pages("experiments", "POST", "experiments/search", view_type="ALL", max_results=PAGE)
        return [
            SourceExperiment(
                str(each["experiment_id"]), each["name"], _pairs(each), each.get("lifecycle_stage") == "deleted"
            )
            for each in found
        ][::-1]

    def runs(self, experiment: SourceExperiment) -> Iterator[SourceRun]:
        found = self.pages(
            "runs",
            "POST",
            "runs/search",
            experiment_ids=[experiment.id],
            run_view_type="ALL",
            order_by=["attributes.start_time ASC"],
            max_results=PAGE,
        )
        yield from map(_run, found)

    def run(self, run_id: str) -> SourceRun:
        return _run(self.call("GET", "runs/get", run_id=run_id)["run"])

    def history(self, run: SourceRun, metric: str) -> list[Point]:
        points: list[Point] = []
        asked = {"run_id": run.id, "metric_key": metric, "max_results": POINTS}
        for each in self.pages("metrics", "GET", "metrics/get-history", **asked):
            points.append((float(each.get("value", 0)), int(each.get("timestamp", 0)), int(each.get("step", 0))))
        return points

    def files(self, run: SourceRun) -> Iterator[tuple[str, Opened]]:
        info = self.call("GET", "runs/get", run_id=run.id)["run"]["info"]
        root = str(info.get("artifact_uri") or "")
        if not root.startswith(PROXIED):
            raise ValueError(f"its files are in {root}, which the server does not hand out")
        place = urlsplit(root).path.strip("/")
        yield from self._below(run.id, "", place)
        for id, (owner, name) in self.logged_models().items():
            if owner == run.id:
                yield from self._of_logged(id, name, "", f"{info['experiment_id']}/models/{id}/artifacts")

    def _of_logged(self, id: str, name: str, folder: str, place: str) -> Iterator[tuple[str, Opened]]:
        asked = {"artifact_directory_path": folder or None}
        for each in self.call("GET", f"logged-models/{id}/artifacts/directories", **asked).get("files") or ():
            if each.get("is_dir"):
                yield from self._of_logged(id, name, each["path"], place)
            else:
                yield f"{name}/{each['path']}", partial(self.open_file, f"{place}/{each['path']}")

    def logged_models(self) -> dict[str, tuple[str, str]]:
        if self._logged is None:
            ids = [each.id for each in self.experiments()]
            self._logged = {}
            try:
                for each in self.pages("models", "POST", "logged-models/search", experiment_ids=ids, max_results=50):
                    info = each["info"]
                    if info.get("source_run_id"):
                        self._logged[str(info["model_id"])] = (str(info["source_run_id"]), str(info["name"]))
            except Refusal as error:
                if error.error not in ("ENDPOINT_NOT_FOUND", "404"):  # a server of 2.x has none
                    raise
        return self._logged

    def _below(self, run_id: str, folder: str, place: str) -> Iterator[tuple[str, Opened]]:
        for each in self.call("GET", "artifacts/list", run_id=run_id, path=folder or None).get("files") or ():
            if each.get("is_dir"):
                yield from self._below(run_id, each["path"], place)
            else:
                yield each["path"], partial(self.open_file, f"{place}/{each['path']}")

    def models(self) -> list[SourceModel]:
        found = []
        for each in self.pages("registered_models", "GET", "registered-models/search", max_results=100):
            whole = self.call("GET", "registered-models/get", name=each["name"])["registered_model"]
            versions = self.pages(
                "model_versions", "GET", "model-versions/search", filter=f"name='{each['name']}'", max_results=PAGE
            )
            aliases = {str(alias["alias"]): int(alias["version"]) for alias in whole.get("aliases") or ()}
            made = sorted(map(_version, versions), key=lambda version: version.version)
            found.append(SourceModel(each["name"], whole.get("description") or "", _pairs(whole), aliases, made))
        return found

    def left_out(self) -> dict[str, int]:
        return {}

    # -- within -------------------------------------------------------------------------------------------------------

    def _request(
        self, method: str, path: str, body: bytes | Iterable[bytes] | None, headers: Mapping[str, str]
    ) -> http.client.HTTPResponse:
        parts = self._parts
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        connection = kind(parts.hostname or "", parts.port, timeout=300)
        every = {**headers, **({"Authorization": self._authorization} if self._authorization else {})}
        try:
            chunked = "Transfer-Encoding" in every
            target = f"{parts.path.rstrip('/')}/{path}"
            connection.request(method, target, body, every, encode_chunked=chunked)
            response = connection.getresponse()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise CommandError(
                f"{self.name} does not answer: {error}.", "Is it the address of an MLflow server?", code="unreachable"
            ) from None
        if response.status >= 400:
            raise _refusal(self.name, method, path, response)
        return response


def _refusal(name: str, method: str, path: str, response: http.client.HTTPResponse) -> Refusal:
    said = response.read(100_000).decode("utf-8", "replace")
    try:
        problem = json.loads(said)
        code, message = str(problem.get("error_code") or response.status), str(problem.get("message") or said)
    except (ValueError, AttributeError):
        code, message = str(response.status), said
    return Refusal(code, f"{name} refused {method} {path.partition('?')[0]} ({code}): {message[:1000]}")


def _pairs(document: Json) -> dict[str, str]:
    return {str(each["key"]): str(each.get("value") or "") for each in document.get("tags") or ()}


def _run(document: Json) -> SourceRun:
    info, data = document["info"], document.get("data") or {}
    end = info.get("end_time")
    return SourceRun(
        id=str(info.get("run_id") or info["run_uuid"]),
        experiment_id=str(info["experiment_id"]),
        name=str(info.get("run_name") or ""),
        user=str(info.get("user_id") or ""),
        status=str(info.get("status") or "FINISHED"),
        start_time=int(info.get("start_time") or 0),
        end_time=None if end is None else int(end),
        deleted=info.get("lifecycle_stage") == "deleted",
        parameters={str(each["key"]): str(each.get("value") or "") for each in data.get("params") or ()},
        tags=_pairs(data),
        metrics=[str(each["key"]) for each in data.get("metrics") or ()],
    )


def _version(document: Json) -> SourceVersion:
    return SourceVersion(
        int(document["version"]),
        str(document.get("source") or ""),
        str(document.get("run_id") or ""),
        str(document.get("description") or ""),
        _pairs(document),
        str(document.get("current_stage") or "None"),
    )
