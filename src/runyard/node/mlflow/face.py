"""What is answered to MLflow's client in a run: what it logs is journaled and answered at once, all else is asked of
the server.

The job's own run ends when its script does, whatever the client says of it. Runs that the script makes are children of
the job's run; what is logged to them is journaled too, and so is their end.
"""

from __future__ import annotations

import hmac
import json
import threading
import time
from base64 import b64decode
from pathlib import Path
from typing import Any, Dict, Mapping
from urllib.parse import quote, unquote

from runyard.contracts import journal as contract
from runyard.contracts import names
from runyard.contracts.plan import Plan
from runyard.node.mlflow import journals
from runyard.node.mlflow.journals import Journals
from runyard.node.mlflow.listener import BadRequest, Reply, Request
from runyard.node.mlflow.server import Away, Server

Json = Dict[str, Any]

RUN_NAME, PARENT = "mlflow.runName", "mlflow.parentRunId"
OUTPUTS = "outputs"
OUTCOMES = {"FINISHED": "completed", "FAILED": "failed", "KILLED": "canceled"}
_BY_NUMBER = {1: "RUNNING", 2: "SCHEDULED", 3: "FINISHED", 4: "FAILED", 5: "KILLED"}

PATIENCE = 60.0
"""Seconds for which a request waits that the server alone can answer."""

GLANCE = 1.0
"""The same for what this process can answer in its place."""

DELIVERED_WITHIN = 30.0
"""Seconds for which a read waits for what was logged before it."""

AWAY_FOR = 5.0
"""Seconds for which a server that did not answer is not asked for what this process can answer."""


class Face:
    """Answers requests; threads may call it at once."""

    def __init__(self, plan: Plan, folder: Path, token: str) -> None:
        self._plan, self._token = plan, token
        self._pages = f"/mlflow/{plan.workspace}/"
        self._prefix = f"{self._pages}api/"
        self._journals = Journals(folder / "telemetry")
        self._server = Server(plan)
        self._lock = threading.Lock()
        self._runs: dict[str, Json] = {plan.run_id: self._own()}
        self._parameters: dict[str, dict[str, str]] = {plan.run_id: {}}
        self._away_until = 0.0

    def answer(self, request: Request) -> Reply:
        if request.method == "GET" and f"{request.path.rstrip('/')}/" == self._pages:  # a browser's: it has no token
            there = f"{self._server.address}/mlflow/{quote(self._plan.workspace, safe='')}/"
            return Reply(302, [], 0, (("Location", there),))  # browsers keep what follows the # of the client's links
        if not self._is_known(request.headers.get("authorization", "")):
            return _error(401, "UNAUTHENTICATED", "The request does not carry the token of the run.")
        if not request.path.startswith(self._prefix):
            return self._pass(request)
        path = request.path[len(self._prefix) :]
        if path.startswith("2.0/mlflow-artifacts/artifacts/") and request.method == "PUT":
            return self._keep(request, path[len("2.0/mlflow-artifacts/artifacts/") :])
        if path == "2.0/mlflow/runs/get":
            return self._get(request)
        taken = _TAKEN.get(path) if request.method == "POST" else None
        if taken is None:
            if _reads(request.method, path):
                self._journals.deliver(DELIVERED_WITHIN)
            return self._pass(request)
        body = request.json()
        if path == "2.0/mlflow/runs/create":
            return self._create(request, body)
        run_id = str(body.get("run_id") or body.get("run_uuid") or "")
        if run_id not in self._runs:
            return self._pass(request, body)
        reply: Reply = getattr(self, taken)(request, run_id, body)
        return reply

    # -- what is journaled --------------------------------------------------------------------------------------------

    def _log_metric(self, request: Request, run_id: str, body: Json) -> Reply:
        self._journals.write(run_id, *_values([body]))
        return _answer({})

    def _log_parameter(self, request: Request, run_id: str, body: Json) -> Reply:
        return self._log_batch(request, run_id, {"params": [body]})

    def _log_batch(self, request: Request, run_id: str, body: Json) -> Reply:
        lines = _values(_objects(body.get("metrics")))
        given: dict[str, str] = {}
        for each in _objects(body.get("params")):
            key, value = _text(each, "key"), _said(each)
            if given.setdefault(key, value) != value:
                return _fixed(key, given[key], value)
        tags = {_text(each, "key"): _said(each) for each in _objects(body.get("tags"))}
        with self._lock:
            known = self._parameters[run_id]
            for key, value in given.items():
                if known.get(key, value) != value:
                    return _fixed(key, known[key], value)
            known.update(given)
        if given:
            lines.append(journals.parameters(given))
        if tags:
            lines.append(journals.tags(tags))
        self._journals.write(run_id, *lines)
        return _answer({})

    def _set_tag(self, request: Request, run_id: str, body: Json) -> Reply:
        self._journals.write(run_id, journals.tags({_text(body, "key"): _said(body)}))
        return _answer({})

    def _delete_tag(self, request: Request, run_id: str, body: Json) -> Reply:
        self._journals.write(run_id, journals.untag(_text(body, "key")))
        return _answer({})

    def _log_inputs(self, request: Request, run_id: str, body: Json) -> Reply:
        self._journals.write(run_id, journals.noted(contract.INPUTS, body))
        return _answer({})

    def _log_outputs(self, request: Request, run_id: str, body: Json) -> Reply:
        self._journals.write(run_id, journals.noted(contract.OUTPUTS, body))
        return _answer({})

    def _log_model(self, request: Request, run_id: str, body: Json) -> Reply:
        return _answer({})  # the model's files say all of it

    def _update(self, request: Request, run_id: str, body: Json) -> Reply:
        name = str(body.get("run_name") or "")
        status = _BY_NUMBER.get(body.get("status"), str(body.get("status") or "").upper())  # type: ignore[arg-type]
        info = self._runs[run_id]["info"]
        if name:
            self._journals.write(run_id, journals.tags({RUN_NAME: name}))
            info["run_name"] = name
        if run_id == self._plan.run_id:  # it ends when its script does
            return _answer({"run_info": info})
        if status in OUTCOMES:
            error = {"code": "UserError", "message": "The script has ended this run as failed."}
            failed = error if status == "FAILED" else None
            self._journals.write(run_id, journals.end(OUTCOMES[status], failed))
            info.update(status=status, end_time=body.get("end_time") or _now())
        elif status:  # a run that has ended goes on, which the server has to know first
            self._journals.deliver(DELIVERED_WITHIN)
            info["status"] = status
            return self._pass(request, body)
        return _answer({"run_info": info})

    def _keep(self, request: Request, path: str) -> Reply:
        """A file: of a run it is written aside and delivered; of a logged model the server takes it itself."""
        parts = path.split("/")
        if len(parts) < 4 or parts[2] != "artifacts" or parts[1] not in self._runs:
            return self._pass(request)
        try:
            name = names.check_file("/".join((OUTPUTS, *parts[3:])))
        except names.BadName as error:
            raise BadRequest(str(error)) from error
        spool = self._journals.spool(request.body.pieces())
        self._journals.write(parts[1], journals.file(name, spool))
        return _answer({})

    # -- what the server knows ----------------------------------------------------------------------------------------

    def _get(self, request: Request) -> Reply:
        """A run. While the server is away, what is known of it here: the client asks for it before it logs a file."""
        run_id = _query(request.target).get("run_id") or _query(request.target).get("run_uuid") or ""
        known = self._runs.get(run_id)
        if known is None:
            return self._pass(request)
        if time.monotonic() >= self._away_until:
            self._journals.deliver(GLANCE)
            try:
                reply = self._server.ask(request, patience=GLANCE)
                if reply.status == 200:
                    return reply
                b"".join(reply.pieces)  # another program has the port of a server that has ended
            except Away:
                pass
            self._away_until = time.monotonic() + AWAY_FOR
        return _answer({"run": known})

    def _create(self, request: Request, body: Json) -> Reply:
        """A run that the script makes is a child of the job's, unless it is put into another experiment."""
        here = self._runs[self._plan.run_id]["info"]["experiment_id"]
        tags = _objects(body.get("tags"))
        if str(body.get("experiment_id")) == here and not any(each.get("key") == PARENT for each in tags):
            body = {**body, "tags": [*tags, {"key": PARENT, "value": self._plan.run_id}]}
        reply = self._pass(request, body)
        held = b"".join(reply.pieces)
        if reply.status == 200:
            made = json.loads(held)["run"]
            with self._lock:
                self._runs[made["info"]["run_id"]] = made
                self._parameters[made["info"]["run_id"]] = {}
        return Reply(reply.status, [held], len(held), reply.headers)

    def _pass(self, request: Request, body: Json | None = None) -> Reply:
        try:
            return self._server.ask(request, None if body is None else json.dumps(body).encode("utf-8"), PATIENCE)
        except Away as why:
            # Not 503: the client would go on trying for minutes, with the script waiting.
            return _error(400, "TEMPORARILY_UNAVAILABLE", f"The server does not answer ({why}).")

    def _is_known(self, given: str) -> bool:
        scheme, _, token = given.partition(" ")
        if scheme.lower() == "basic":
            try:
                token = b64decode(token).decode("utf-8").partition(":")[2]
            except ValueError:
                return False
        return hmac.compare_digest(token.encode("utf-8", "replace"), self._token.encode("ascii"))

    def _own(self) -> Json:
        """The job's run, as far as it is known here."""
        plan = self._plan
        experiment = "0" if plan.experiment == "Default" else plan.experiment_id
        info = {
            "run_id": plan.run_id,
            "run_uuid": plan.run_id,
            "run_name": plan.run_id,
            "experiment_id": experiment,
            "user_id": "",
            "status": "RUNNING",
            "start_time": _now(),
            "artifact_uri": f"mlflow-artifacts:/{experiment}/{plan.run_id}/artifacts",
            "lifecycle_stage": "active",
        }
        return {"info": info, "data": {}, "inputs": {}}


_RUNS = "2.0/mlflow/runs/"
_TAKEN = {
    f"{_RUNS}create": "_create",
    f"{_RUNS}update": "_update",
    f"{_RUNS}log-metric": "_log_metric",
    f"{_RUNS}log-parameter": "_log_parameter",
    f"{_RUNS}log-batch": "_log_batch",
    f"{_RUNS}log-inputs": "_log_inputs",
    f"{_RUNS}outputs": "_log_outputs",
    f"{_RUNS}log-model": "_log_model",
    f"{_RUNS}set-tag": "_set_tag",
    f"{_RUNS}delete-tag": "_delete_tag",
}
"""Requests that are answered here, where they concern a run of the script's, and the methods that do it."""


def _reads(method: str, path: str) -> bool:
    """Whether the answer depends on what was logged before."""
    if method == "GET":
        return "/experiments/" not in path and "server-info" not in path
    return path.endswith("/search") or "model-versions" in path or method == "PATCH"


def _values(metrics: list[Json]) -> list[bytes]:
    lines = []
    for each in metrics:
        try:
            number = float(each["value"])
            timestamp, step = each.get("timestamp"), int(each.get("step") or 0)
            seconds = time.time() if timestamp is None else int(timestamp) / 1000
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise BadRequest(
                f"The metric {str(each.get('key'))[:80]!r} has no value, step or time: {error}."
            ) from error
        if not -(2**63) < step < 2**63:
            raise BadRequest(f"The step of the metric {str(each.get('key'))[:80]!r} has more than 64 bits.")
        lines.append(journals.value(_text(each, "key"), number, seconds, step))
        if each.get("model_id"):
            lines.append(journals.noted(contract.MEASURED, each))
    return lines


def _objects(value: Any) -> list[Json]:
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        raise BadRequest("Metrics, parameters and tags are lists of objects.")
    return value


def _text(each: Mapping[str, Any], name: str) -> str:
    text = each.get(name)
    if not isinstance(text, str) or not text.strip():
        raise BadRequest(f"A metric, parameter or tag lacks its {name}.")
    return text


def _said(each: Mapping[str, Any]) -> str:
    """The value of a tag or a parameter; null is an empty one, as the server has it."""
    value = each.get("value")
    return "" if value is None else str(value)


def _fixed(key: str, before: str, value: str) -> Reply:
    message = (
        f"The parameter {names.shown(key)} is {names.shown(before)} already, and parameters of a run cannot be changed "
        f"(to {names.shown(value)}). Log it under another name, or make a run of its own for each value."
    )
    return _error(400, "INVALID_PARAMETER_VALUE", message)


def _query(target: str) -> dict[str, str]:
    pairs = (part.partition("=") for part in target.partition("?")[2].split("&"))
    return {unquote(key): unquote(value.replace("+", " ")) for key, _, value in pairs}


def _now() -> int:
    return int(time.time() * 1000)


def _answer(value: Json) -> Reply:
    said = json.dumps(value).encode("utf-8")
    return Reply(200, [said], len(said))


def _error(status: int, code: str, message: str) -> Reply:
    said = json.dumps({"error_code": code, "message": message}).encode("utf-8")
    return Reply(status, [said], len(said))
