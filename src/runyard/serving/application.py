"""What a service answers: finds the route of a request, asks the scorer, and gives every answer its headers.

The routes, their errors and their headers are those of Azure's inference server, so that clients need no change.
"""

from __future__ import annotations

import os
import random
import time
import traceback
from typing import Callable, List, cast

import runyard
from runyard.contracts.services.worker import WorkerSettings, is_loopback
from runyard.serving.access_log import AccessLog
from runyard.serving.authentication import NOT_FOR_US, Guard
from runyard.serving.calls import Call, Calls, Limits
from runyard.serving.http.connection import Connection
from runyard.serving.http.head import BadRequest
from runyard.serving.http.loop import Loop
from runyard.serving.http.message import Request, Response, json_response, message
from runyard.serving.http.origins import origin_headers
from runyard.serving.metrics import Metrics
from runyard.serving.scorer import Asked, Scorer
from runyard.serving.swagger import VERSIONS, Described, document, users_own

MOST_ID = 100  # characters
UNEXPECTED = "The server of the service failed at this request. The log of the service has the reason."
SERVER = f"runyard/{runyard.__version__}"

_REFUSALS: dict[str, tuple[int, str]] = {
    "full": (503, "Too many requests wait already. Ask again in a moment."),
    "late": (503, "The request has waited for longer than the service allows. Ask again in a moment."),
    "timeout": (500, "The call took longer than the service allows (scoring_timeout_ms)."),
    "stuck": (503, "This worker is being replaced, because a call does not end. Ask again in a moment."),
}


class Exchange:
    """A request that waits for a call, on its connection."""

    __slots__ = ("_application", "_connection", "in_full", "prepared", "request", "route", "rows", "together")

    def __init__(self, application: Application, connection: Connection, request: Request, route: str) -> None:
        self._application, self._connection, self.request, self.route = application, connection, request, route
        self.prepared: object = None
        self.in_full = application.guard.is_users(request.head)
        self.together, self.rows = application.scorer.prepare(cast(Asked, self))

    @property
    def gone(self) -> bool:
        return self._connection.gone

    def answer(self, response: Response) -> None:
        self._application.finish(self._connection, self.request, response, self.route)


Handler = Callable[[Request], Response]


class Application:
    def __init__(self, settings: WorkerSettings, scorer: Scorer, worker: int = 0) -> None:
        self._settings, self.scorer = settings, scorer
        any_name = settings.allow_unauthenticated or not is_loopback(settings.host)
        self.guard = Guard(settings.authentication, settings.service, settings.user_token_hash, any_name)
        self.log = AccessLog(settings.log_requests)
        labels = {"service": settings.service, "revision": settings.revision, "replica": settings.replica}
        place = f"{settings.status}.metrics" if settings.workers > 1 or settings.share_numbers else ""
        self.metrics = Metrics({**labels, "worker": worker}, place)
        self.calls = Calls(_limits(settings), self._execute, self._refusal)
        self._shows_server = os.environ.get("SERVER_VERSION_LOG_RESPONSE_ENABLED", "true").lower() != "false"
        prefix = os.environ.get("SERVICE_PATH_PREFIX", "").strip("/")
        self._score = f"/{prefix}/score" if prefix else "/score"
        self._prefix = f"/{prefix}" if prefix else ""
        self._described = Described(settings.service, os.environ.get("SERVICE_VERSION", "1.0"), self._score)
        self._described.authenticated = not self.guard.open
        scorer.describe(self._described)
        self._plain: dict[str, Handler] = {
            f"{self._prefix}/": self._health,
            f"{self._prefix}/ready": self._ready,
            f"{self._prefix}/swagger.json": self._swagger,
            f"{self._prefix}/metrics": self._metrics,
        }
        self._free = (f"{self._prefix}/", f"{self._prefix}/ready")
        self.ready = False

    def attach(self, loop: Loop) -> None:
        self.calls.loop = loop
        loop.refused = self._refused

    def turn_ended(self) -> None:
        """At the end of each turn of the loop."""
        loop = self.calls.loop
        self.log.write(loop.now, loop.draining)
        metrics = self.metrics
        metrics.running, metrics.waiting = len(self.calls.running), len(self.calls.waiting)
        metrics.connections = len(loop.connections)
        metrics.batches, metrics.batch_rows = self.scorer.batches, self.scorer.batch_rows
        metrics.share(loop.now)
        self.calls.patience = 0.2 if self.log.waits else 5.0

    # Requests, as they come.

    def arrived(self, connection: Connection, request: Request) -> None:
        try:
            self._take_up(connection, request)
        except Exception:  # noqa: BLE001 - one request must not end the process, and the others with it
            traceback.print_exc()
            if connection.busy:
                self.finish(connection, request, message(500, UNEXPECTED), "unknown", known=False)

    def _take_up(self, connection: Connection, request: Request) -> None:
        head = request.head
        path = head.path
        if not self.guard.knows(head):
            self.finish(connection, request, message(403, NOT_FOR_US), "unknown", known=False)
            return
        if path == self._score or self._is_scorers(path):
            self._arrived_for_scorer(connection, request)
            return
        handler = self._plain.get(path)
        if handler is None:
            self.finish(connection, request, message(404, f"There is nothing at {path}."), "unknown", known=False)
        elif head.method == "OPTIONS" and self._settings.cors_origins:
            self.finish(connection, request, Response(content_type=""), path)
        elif head.method not in ("GET", "HEAD"):
            wrong = message(405, f"{path} takes GET, not {head.method}.")
            wrong.headers.append(("allow", "GET, HEAD"))
            self.finish(connection, request, wrong, path, known=False)
        elif path not in self._free and not self._allowed(connection, request):
            self.finish(connection, request, _unauthorized(), path)
        else:
            self.finish(connection, request, handler(request), path)

    def _is_scorers(self, path: str) -> bool:
        return bool(self.scorer.routes) and path[len(self._prefix) :].startswith(self.scorer.routes)

    def _arrived_for_scorer(self, connection: Connection, request: Request) -> None:
        head = request.head
        route = "/score" if head.path == self._score else "/" + head.path[len(self._prefix) + 1 :].partition("/")[0]
        if head.method not in ("POST", "GET", "OPTIONS"):
            wrong = message(405, f"{head.path} takes GET, POST and OPTIONS, not {head.method}.")
            wrong.headers.append(("allow", "GET, POST, OPTIONS"))
            self.finish(connection, request, wrong, route, known=False)
            return
        wrong_id = _wrong_id(request)
        if wrong_id is not None:
            self.finish(connection, request, wrong_id, route)
            return
        if head.method == "OPTIONS":
            self.finish(connection, request, Response(content_type="text/html; charset=utf-8", failed=False), route)
            return
        answered = self.scorer.at_once(request) if head.path != self._score else None
        if answered is not None and answered.failed is None:  # health of other protocols: for everybody
            self.finish(connection, request, answered, route)
        elif not self.guard.lets(head):
            self.finish(connection, request, _unauthorized(), route)
        elif answered is not None:
            self.finish(connection, request, answered, route)
        else:
            try:
                exchange = Exchange(self, connection, request, route)
            except BadRequest as wrong_form:
                self.finish(connection, request, message(wrong_form.status, wrong_form.message, False), route)
                return
            self.calls.submit(exchange)

    def _allowed(self, connection: Connection, request: Request) -> bool:
        """Numbers are for this machine without a key: whoever watches over the service asks for them."""
        is_metrics = request.path.endswith("/metrics")
        return (is_metrics and connection.is_local) or self.guard.lets(request.head)

    def _execute(self, calls: list[Call]) -> list[Response]:
        try:
            return self.scorer.execute(cast(List[Asked], calls))
        except Exception:  # noqa: BLE001 - as above
            traceback.print_exc()
            return [message(500, UNEXPECTED, failed=True) for _ in calls]

    def _refusal(self, reason: str) -> Response:
        status, text = _REFUSALS[reason]
        self.metrics.refuse(reason)
        response = message(status, text, failed=reason == "timeout")
        if status == 503:
            response.headers.append(("retry-after", "1"))
        return response

    def _refused(self, wrong: BadRequest) -> None:
        self.metrics.answered("unreadable", wrong.status, 0.0)

    # Answers.

    def finish(
        self, connection: Connection, request: Request, response: Response, route: str, known: bool = True
    ) -> None:
        """Give an answer its headers, count it, and send it. `known`: whether there is such a route."""
        if known:
            self._add_ids(request, response)
        response.headers += origin_headers(self._settings.cors_origins, request.head)
        seconds = time.perf_counter() - request.began
        self.metrics.answered(route, response.status, seconds)
        if response.seconds is not None:
            self.metrics.call_seconds.add(response.seconds)
        if request.path not in self._free:
            self.log.add(request, response, seconds)
        connection.respond(response)

    def _add_ids(self, request: Request, response: Response) -> None:
        given = request.head.headers
        made = _id(given, "x-request-id") or _new_id()
        request.request_id = made
        old = _id(given, "x-ms-request-id")
        client = _id(given, "x-ms-client-request-id") or old
        headers = response.headers
        headers.append(("x-ms-run-function-failed", "True" if response.failed else "False"))
        if response.seconds is not None and not response.failed:
            headers.append(("x-ms-run-fn-exec-ms", f"{response.seconds * 1000:.3f}"))
        headers.append(("x-request-id", made))
        headers.append(("x-ms-request-id", old or client or made))
        if client:
            headers.append(("x-ms-client-request-id", client))
        if self._shows_server:
            headers.append(("x-ms-server-version", SERVER))
        if "traceid" in given:
            headers.append(("TraceId", given["traceid"]))

    # Routes without the scorer.

    def _health(self, request: Request) -> Response:
        return Response(b"Healthy", content_type="text/html; charset=utf-8", failed=False)

    def _ready(self, request: Request) -> Response:
        why = "drains" if self.calls.loop.draining else "is being replaced" if self.calls.stuck else ""
        if why:
            return json_response({"ready": False, "message": f"This worker {why}."}, 503)
        return json_response({"ready": True})

    def _metrics(self, request: Request) -> Response:
        return Response(self.metrics.text().encode(), content_type="text/plain; version=0.0.4; charset=utf-8")

    def _swagger(self, request: Request) -> Response:
        asked = next((part[8:] for part in request.head.query.split("&") if part.startswith("version=")), "2")
        version = VERSIONS.get(asked)
        if version is None:
            return message(404, f"There is no Swagger document of version {asked[:20]!r}: 2.0, 3.0 and 3.1 are known.")
        own = users_own(self._settings.app_root, version) or users_own(self._settings.source_directory, version)
        if own is not None:
            return Response(own)
        return json_response(document(self._described, version, request.head.headers.get("host", "")))


def _limits(settings: WorkerSettings) -> Limits:
    return Limits(
        settings.concurrency,
        settings.queue_length,
        settings.queue_wait_ms / 1000,
        settings.scoring_timeout_ms / 1000,
        settings.batch.size,
        settings.batch.wait_ms / 1000,
    )


def _wrong_id(request: Request) -> Response | None:
    for name in ("x-request-id", "x-ms-request-id", "x-ms-client-request-id"):
        value = request.head.headers.get(name)
        if value is not None and len(value) > MOST_ID:
            return message(431, f"The header {name} has more than {MOST_ID} characters.", failed=False)
    return None


def _id(given: dict[str, str], name: str) -> str:
    value = given.get(name, "")
    return value if len(value) <= MOST_ID else ""


def _unauthorized() -> Response:
    response = message(401, "A valid key or token is needed: send the header `Authorization: Bearer <key or token>`.")
    response.headers.append(("www-authenticate", "Bearer"))
    return response


def _new_id() -> str:
    """A random id in the form of a UUID of version 4."""
    text = f"{random.getrandbits(128):032x}"
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-{'89ab'[int(text[16], 16) & 3]}{text[17:20]}-{text[20:]}"
