"""Requests on one connection, whose responses are lines of JSON and may be held open by the server between two lines.

A caller that waits for the next line can wait for something else beside it.
"""

from __future__ import annotations

import json
import select
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from runyard.client.problems import problem

if TYPE_CHECKING:
    from runyard.client.exchange import Connection, Response
    from runyard.client.http import Client

REST_WITHIN = 5.0  # seconds for the end of a response whose last line has come


class Held:
    """The requests of one thread, one after the other. The connection is opened with the first and used again while it
    can be; a response that is still open then is given up, with its connection."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._connection: Connection | None = None
        self._url = ""  # where the connection leads
        self._response: Response | None = None
        self._promised = False  # another line of the response

    @property
    def open(self) -> bool:
        """Whether the server may send another line."""
        return self._promised and self._response is not None and not self._response.exhausted

    @property
    def broken(self) -> bool:
        """Whether there is no connection any more, so that the next request needs another one."""
        return self._connection is None

    def post(self, target: str, body: bytes) -> Any:
        """Send a request that may be repeated; returns the first line of the response. Refusals are ClientProblem,
        no response is Unreachable."""
        used = self._settle()
        try:
            try:
                return self._exchange(target, body)
            except ConnectionError:
                if not used:
                    raise
            self.close()  # the server has hung up between two requests: that is no sign of trouble
            return self._exchange(target, body)
        except OSError as error:
            self.close()
            raise self._client.unreachable(error, sent=True) from error

    def wait(self, seconds: float, wake: int) -> Any:
        """The next line, as soon as it comes; None when the response has ended without one (`open` is false then), when
        the descriptor `wake` can be read, and after `seconds`."""
        response, connection = self._response, self._connection
        deadline = time.monotonic() + seconds
        poll = select.poll()
        poll.register(wake, select.POLLIN)
        if response is None or connection is None or not self.open:
            poll.poll(max(0.0, seconds) * 1000)
            return None
        assert connection.sock is not None
        poll.register(connection.sock, select.POLLIN)
        connection.set_timeout(0.0)  # over TLS, something may come that is not for us
        try:
            while True:
                line = response.arrived_line()
                if line is not None:
                    self._promised = False
                    return _value(line) if line else None
                if not response.pending:
                    left = max(0.0, deadline - time.monotonic())
                    ready = [descriptor for descriptor, _ in poll.poll(left * 1000)]
                    if not ready or wake in ready:
                        return None
                with suppress(*_nothing_came(connection.sock)):
                    response.receive()
        except OSError:
            self.close()  # whoever waits for another line learns that there will be none
            return None

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = self._response = None
        self._promised = False

    def _settle(self) -> bool:
        """Have a connection to the server's current address that waits for a request; whether it was used before."""
        if self.open or self._url != self._client.url:
            self.close()
        if self._connection is not None and self._response is not None:
            try:
                self._connection.set_timeout(REST_WITHIN)
                self._response.read()
                if self._response.will_close or not self._connection.usable():
                    self.close()
            except OSError:
                self.close()
        if self._connection is not None:
            return True
        self._connection, self._url = self._client.open(), self._client.url
        return False

    def _exchange(self, target: str, body: bytes) -> Any:
        if self._connection is None:
            self._connection, self._url = self._client.open(), self._client.url
        connection = self._connection
        connection.set_timeout(self._client.timeout)
        headers = {**self._client.headers(), "Content-Type": "application/octet-stream"}
        with suppress(BrokenPipeError, ConnectionResetError):  # a server that refuses a large body sends the reason
            connection.request("POST", target, body, headers)
        self._response = response = connection.getresponse()
        if response.status >= 400:
            raise problem(response.status, response.read(), self._client.url)
        value = _value(response.readline())
        self._promised = isinstance(value, dict) and bool(value.get("held"))
        return value


def _nothing_came(sock: Any) -> tuple[type[OSError], ...]:
    """What is raised when nothing can be read now."""
    if not hasattr(sock, "pending"):
        return (BlockingIOError,)
    import ssl

    return (BlockingIOError, ssl.SSLWantReadError)


def _value(line: bytes) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        raise ConnectionError(f"this is no line of JSON: {line[:200]!r}") from None
