"""HTTP to the server, over the standard library: finding it, keep-alive, retries, streams, refusals.

It knows nothing of runs or experiments, and imports nothing of the rest of the SDK: the node runner uses it alone.
"""

from __future__ import annotations

import json
import os
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Union,
)

from runyard import __version__
from runyard.client.problems import ClientProblem, Unreachable, problem
from runyard.client.stream import QUIET, Event, Stream
from runyard.contracts import PROTOCOL
from runyard.contracts import home as homes
from runyard.system.records import field, record, replace

if TYPE_CHECKING:
    from runyard.client.exchange import Connection, Response

__all__ = [
    "QUIET",
    "Body",
    "Client",
    "ClientProblem",
    "Event",
    "Locator",
    "Params",
    "Stream",
    "Unreachable",
    "healthy",
    "problem",
    "quote",
]

LONGEST = 60_000
"""Characters of an address, which servers read up to a limit. Beyond it the refusal would not say what is wrong."""
IDEMPOTENT = frozenset({"GET", "HEAD", "PUT", "DELETE", "PATCH"})

Params = Mapping[str, Union[str, int, bool, Iterable[str], None]]
Body = Union[bytes, Callable[[], Iterable[bytes]]]
"""The bytes, or a function that gives them in pieces: it is called again when the request is sent again."""

exchanges: list[Callable[[str, str, int | None, float], None]] = []
"""Who is told of each request: its method and target, the status of the answer (None: there was none), and seconds."""


@record(frozen=True)
class Locator:
    """Where the server is, and the token for it.

    `server_file` is the server.json of a home on this machine: it is read again when a request fails, because a
    restarted server may listen elsewhere. `revive` starts the server again when it is down and returns its address.
    """

    url: str
    token: str | None = field(repr=False, default=None)
    server_file: Path | None = None
    revive: Callable[[], str] | None = field(repr=False, default=None, compare=False)

    @staticmethod
    def of_run(environment: Mapping[str, str] | None = None) -> Locator:
        """How to reach the server from inside a run, from the variables that the node runner has set."""
        environment = os.environ if environment is None else environment
        file = environment.get("RUNYARD_SERVER_FILE")
        return Locator(
            environment["AZUREML_SERVICE_ENDPOINT"],
            environment["AZUREML_RUN_TOKEN"],
            Path(file) if file else None,
        )

    def moved(self) -> str | None:
        """The address that server.json gives now; None when there is none."""
        running = homes.read_server(self.server_file.parent) if self.server_file else None
        return running.url if running else None


class Client:
    """Requests to one server. Threads may share it: each has its own connection."""

    def __init__(self, locator: Locator, *, timeout: float = 60.0, patience: float = 15.0) -> None:
        self.locator = locator
        self.timeout = timeout
        self.patience = patience  # seconds for which a request is tried again
        self._pool = threading.local()

    @property
    def url(self) -> str:
        return self.locator.url

    def get(self, path: str, params: Params | None = None, **options: Any) -> Any:
        return self.request("GET", path, params=params, **options)

    def put(self, path: str, value: Any = None, **options: Any) -> Any:
        return self.request("PUT", path, value, **options)

    def post(self, path: str, value: Any = None, **options: Any) -> Any:
        return self.request("POST", path, value, **options)

    def patch(self, path: str, value: Any = None, **options: Any) -> Any:
        return self.request("PATCH", path, value, **options)

    def delete(self, path: str, **options: Any) -> Any:
        return self.request("DELETE", path, **options)

    def request(
        self,
        method: str,
        path: str,
        value: Any = None,
        *,
        params: Params | None = None,
        body: Body | None = None,
        length: int | None = None,
        headers: Mapping[str, str] | None = None,
        idempotent: bool | None = None,
        patience: float | None = None,
        timeout: float | None = None,
    ) -> Any:
        """Send `value` as JSON, or `body` as it is, and return the JSON of the response.

        A request that never reached the server is retried for `patience` seconds; one that may have reached it only
        when it is idempotent. A body in pieces needs its `length`.
        """
        sent = dict(headers or {})
        if value is not None:
            body = json.dumps(value, allow_nan=False).encode("utf-8")
            sent.setdefault("Content-Type", "application/json")
        elif body is not None:
            sent.setdefault("Content-Type", "application/octet-stream")
        if callable(body):
            if length is None:
                raise ValueError("a body in pieces needs its length")
            sent["Content-Length"] = str(length)
        twice = method in IDEMPOTENT if idempotent is None else idempotent
        target = _target(path, params)

        def once() -> Any:
            with self._connection(timeout) as connection:
                response = self._send(connection, method, target, body, sent)
                content = self._read(response)
                if response.will_close:
                    connection.close()
                if response.status >= 400:
                    raise problem(response.status, content, self.url)
                return json.loads(content) if content else None

        return self._patiently(once, twice, patience)

    @contextmanager
    def stream(
        self,
        path: str,
        params: Params | None = None,
        *,
        method: str = "GET",
        value: Any = None,
        headers: Mapping[str, str] | None = None,
        patience: float | None = None,
        timeout: float | None = None,
    ) -> Iterator[Stream]:
        """Open a response to be read piece by piece (`with client.stream(...) as answer`)."""
        sent = dict(headers or {})
        body = None if value is None else json.dumps(value).encode("utf-8")
        if body is not None:
            sent.setdefault("Content-Type", "application/json")
        target = _target(path, params)

        def once() -> Stream:
            connection = self.open(timeout)
            try:
                response = self._send(connection, method, target, body, sent)
                if response.status >= 400:
                    raise problem(response.status, self._read(response), self.url)
            except BaseException:
                connection.close()
                raise
            return Stream(connection, response, lambda error: self.unreachable(error, sent=True))

        answer = self._patiently(once, True, patience)
        try:
            yield answer
        finally:
            answer.close()

    @contextmanager
    def events(self, path: str, params: Params | None = None, timeout: float = 30.0) -> Iterator[Iterator[Event]]:
        """The server-sent events of `path`. Silence longer than `timeout` (the server sends something every 10 s), or
        a broken connection, is `Unreachable`: the caller decides whether to retry."""
        headers = {"Accept": "text/event-stream"}
        with self.stream(path, params, headers=headers, timeout=timeout, patience=0) as answer:
            yield self._events(answer)

    def _events(self, answer: Stream) -> Iterator[Event]:
        name = "message"
        lines: list[str] = []
        while True:
            line = answer.readline()
            if not line:
                return
            text = line.decode("utf-8").rstrip("\r\n")
            key, _, value = text.partition(":")
            value = value[1:] if value.startswith(" ") else value
            if text.startswith(":"):
                yield QUIET
            elif not text:
                if lines:
                    yield Event(name, json.loads("\n".join(lines)))
                name, lines = "message", []
            elif key == "event":
                name = value
            elif key == "data":
                lines.append(value)

    # -- one request ------------------------------------------------------------------------------------------------

    def _patiently(self, once: Callable[[], Any], twice: bool, patience: float | None) -> Any:
        deadline = time.monotonic() + (self.patience if patience is None else patience)
        pause, revived = 0.02, False
        while True:
            try:
                return once()
            except Unreachable as away:
                if away.sent and not twice:
                    raise
                last: ClientProblem = away
            except ClientProblem as refusal:
                if refusal.code != "not_ready" and not self._is_strangers(refusal):
                    raise
                last = refusal
            if time.monotonic() >= deadline:
                raise last
            address = self.locator.moved()
            is_down = address is None or (address == self.url and last.code != "not_ready")
            if is_down and self.locator.revive is not None and not revived:
                address, revived = self.locator.revive(), True
            if address is not None and address != self.url:
                self.locator = replace(self.locator, url=address)
                continue
            from random import uniform

            time.sleep(min(pause * uniform(0.5, 1.0), max(0.0, deadline - time.monotonic())))
            pause = min(pause * 2, 1.0)

    def _is_strangers(self, refusal: ClientProblem) -> bool:
        """Whether another server refused: ours is down or has moved, and that one now has its port."""
        if refusal.code != "not_authenticated" or self.locator.server_file is None:
            return False
        running = homes.read_server(self.locator.server_file.parent)
        if self.locator.revive is None:
            return running is not None and running.url != self.url
        from runyard.system.processes import alive

        return running is None or running.url != self.url or not alive(running.pid, running.started)

    def _send(
        self,
        connection: Connection,
        method: str,
        target: str,
        body: Body | None,
        headers: Mapping[str, str],
    ) -> Response:
        every = {**self.headers(), **headers}
        began = time.monotonic()
        response = None
        try:
            with suppress(BrokenPipeError, ConnectionResetError):  # of a server that refuses a large body, and says why
                connection.request(method, target, body() if callable(body) else body, every)
            response = connection.getresponse()
            return response
        except OSError as error:
            connection.close()
            raise self.unreachable(error, sent=True) from error
        finally:
            for told in exchanges:
                told(method, target, response.status if response is not None else None, time.monotonic() - began)

    def _read(self, response: Response) -> bytes:
        try:
            return response.read()
        except OSError as error:
            raise self.unreachable(error, sent=True) from error

    @contextmanager
    def _connection(self, timeout: float | None) -> Iterator[Connection]:
        """This thread's connection to the server's current address, opened where needed."""
        key = (os.getpid(), self.url)
        pooled: tuple[tuple[int, str], Connection] | None = getattr(self._pool, "connection", None)
        if pooled is not None and (pooled[0] != key or not pooled[1].usable()):
            if pooled[0][0] == key[0]:
                pooled[1].close()
            pooled = None
        connection = pooled[1] if pooled is not None else self.open(timeout)
        self._pool.connection = None
        connection.set_timeout(self.timeout if timeout is None else timeout)
        try:
            yield connection
        except ClientProblem as refusal:
            if isinstance(refusal, Unreachable):
                connection.close()
            raise
        except BaseException:
            connection.close()
            raise
        finally:
            if connection.sock is not None:
                self._pool.connection = (key, connection)

    def open(self, timeout: float | None = None) -> Connection:
        """A connection of the caller's own."""
        connection = _connect(self.url, self.timeout if timeout is None else timeout)
        try:
            connection.connect()
        except OSError as error:
            raise self.unreachable(error, sent=False) from error
        return connection

    def headers(self) -> dict[str, str]:
        """What every request carries."""
        every = {"X-Runyard-Protocol": str(PROTOCOL), "X-Runyard-Version": __version__, "Accept": "application/json"}
        if self.locator.token:
            every["Authorization"] = f"Bearer {self.locator.token}"
        return every

    def unreachable(self, reason: BaseException, sent: bool) -> Unreachable:
        if self.locator.server_file is not None:
            log = self.locator.server_file.parent / "server.log"
            advice = f"`runyard up` starts it; `runyard doctor` looks for the cause; its log is {log}."
        else:
            advice = "Check the address and that the server runs there (`runyard serve`)."
        return Unreachable(self.url, reason, sent, advice)


def healthy(url: str, timeout: float = 2.0) -> bool:
    """Whether a server answers there."""
    connection = _connect(url, timeout)
    try:
        connection.request("GET", "/health", None, {})
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


def quote(segment: str) -> str:
    """One piece of a path, escaped for a URL; '/' stays, because names of files may contain folders."""
    from urllib.parse import quote as escape

    return escape(segment.encode("utf-8", "surrogateescape"), safe="/~")


def _target(path: str, params: Params | None) -> str:
    target = _with_query(path, params) if params else path
    if len(target) > LONGEST:
        raise ClientProblem(
            "bad_request",
            f"A name has no {len(target):,} characters: {target[:80]}...",
            "Names that Runyard knows are at most some hundred characters long.",
            400,
        )
    return target


def _with_query(path: str, params: Params) -> str:
    from urllib.parse import urlencode

    pairs = []
    for name, value in params.items():
        if value is None:
            continue
        for one in [value] if isinstance(value, (str, int)) else value:
            pairs.append((name, str(one).lower() if isinstance(one, bool) else str(one)))
    return f"{path}?{urlencode(pairs, errors='surrogateescape')}" if pairs else path


def _connect(url: str, timeout: float) -> Connection:
    # Loaded with the first request: a script that only logs never makes one.
    from urllib.parse import urlsplit

    from runyard.client.exchange import Connection

    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ClientProblem(
            "bad_address", f"{url!r} is not the address of a server.", "It looks like http://host:7420 or https://host."
        )
    return Connection(parts.hostname, parts.port, secure=parts.scheme == "https", timeout=timeout)
