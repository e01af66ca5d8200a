"""The shortest way of a delivery: for a request whose head repeats that of one on the same connection.

A reporter sends the same head with every delivery, but for the length of the body. To parse it anew, to find its route
and to ask who its sender is costs several times what is left: to store the delivery, and to write the receipt. So once
a delivery was in order (`runyard.server.middleware.direct`), the next one on its connection is compared with its head,
byte by byte. Nothing is decided here that the usual way decides: whatever differs, has facts, is large, or has a result
that takes more than a receipt, goes that way. It may do so after it was stored: what is stored already is skipped.

For the event loop's thread alone.
"""

from __future__ import annotations

import logging
import re
import time
from typing import Any

from starlette.types import Scope

from runyard.contracts.delivery import BadDelivery, Delivery, JournalPart, decode
from runyard.contracts.states import NOT_RESPONDING
from runyard.server import connections
from runyard.server.api import deliveries
from runyard.server.api.deliveries import COME, HEADERS, HELD, Receipt
from runyard.server.context import ServerContext
from runyard.server.middleware.auth import CALLER
from runyard.server.pace import Held
from runyard.store.intake import LARGE, Parcel

log = logging.getLogger("runyard.server")

_LENGTH = re.compile(rb"\r\nContent-Length: ([0-9]{1,9})\r\n", re.IGNORECASE)
_MOST_DIGITS = 9
_UNUSUAL = (b"transfer-encoding", b"connection:", b"expect:", b"upgrade:")
"""Headers that change what follows a head."""

_STATUS = b"HTTP/1.1 200 OK\r\n"
_CHUNKED = (b"transfer-encoding", b"chunked")
_END = b"0\r\n\r\n"


def offer(scope: Scope) -> None:
    """A delivery is in order: let others with its head come the short way."""
    connection: Any = connections.of(scope)
    if connection is None or connection.lane is not None or not hasattr(connection, "parser"):
        return  # the last: it is not uvicorn's protocol with httptools
    run_id = scope["path_params"]["run_id"]
    head, connection.head = connection.head, b""
    length = _LENGTH.search(head)
    lower = head.lower()
    if (
        length is not None
        and scope[CALLER].run_id in (None, run_id)
        and scope["http_version"] == "1.1"
        and lower.count(b"content-length") == 1
        and not any(name in lower for name in _UNUSUAL)
    ):
        context: ServerContext = scope["app"].state.context
        connection.lane = Express(connection, context, run_id, head[: length.start(1)], head[length.end(1) :])


class Express:
    """The lane of one connection, for deliveries of one run. `before` and `after` are the head, around the length."""

    def __init__(self, connection: Any, context: ServerContext, run_id: str, before: bytes, after: bytes) -> None:
        self._connection, self._context, self._run_id = connection, context, run_id
        self._before, self._after = before, after
        self._delivery: Delivery | None = None  # which is being stored
        self._parcel: Parcel | None = None
        self._request = b""  # as it came
        self._began = 0.0
        self._held: Held | None = None
        self._early = b""  # what came before the answer was whole

    @property
    def busy(self) -> bool:
        return self._delivery is not None or self._held is not None

    def takes(self, data: bytes) -> bool:
        if self.busy:
            self._early += data
            self._connection.flow.pause_reading()
            return True
        body = self._body(data)
        if body is None or self._connection.flow.write_paused:
            return False
        try:
            delivery = decode(body)
        except BadDelivery:
            return False
        if not _is_plain(delivery):
            return False
        self._connection.asked()
        self._began = time.perf_counter()
        self._delivery, self._request = delivery, data
        self._parcel = Parcel(self._run_id, delivery.parts, delivery.attempt)
        self._context.ingest.put(self._parcel, self._context.pace.is_watched(self._run_id), self._stored)
        return True

    def lost(self) -> None:
        if self._held is not None:
            self._context.scheduler.cut(self._run_id)
            self._held.end(False)

    def _body(self, data: bytes) -> bytes | None:
        """The body of a request that has come as a whole, with the known head."""
        before, after = self._before, self._after
        if not data.startswith(before):
            return None
        start = len(before)
        end = data.find(b"\r", start, start + _MOST_DIGITS + 1)
        digits = data[start:end]
        if end < 0 or not digits.isdigit() or not data.startswith(after, end):
            return None
        body = data[end + len(after) :]
        return body if len(body) == int(digits) <= LARGE else None

    def _stored(self) -> None:
        try:
            self._answer()
        except Exception:
            log.exception("a delivery of %s was stored, but not answered", self._run_id)
            self._connection.drop()  # it is sent again

    def _answer(self) -> None:
        delivery, parcel, connection = self._delivery, self._parcel, self._connection
        assert delivery is not None
        assert parcel is not None
        self._delivery = self._parcel = None
        if connection.transport.is_closing():
            return
        receipt = Receipt(parcel)
        if parcel.error is not None or not receipt.live or receipt.status == NOT_RESPONDING:
            request, self._request = self._request, b""
            connection.lane = None  # from now on the usual way
            connection.data_received(request + self._early)
            return
        self._request = b""
        context = self._context
        deliveries.answer_parts(context, receipt, delivery, {})
        context.scheduler.alive(self._run_id)
        context.pace.delivered(self._run_id)
        held, said = deliveries.written(context, receipt, delivery, connection.watch.has_room)
        context.meters.answered("POST", deliveries.route.path, 200, time.perf_counter() - self._began)
        if not held:
            connection.transport.write(self._head((b"content-length", b"%d" % len(said))) + said)
            self._over()
            return
        connection.transport.write(b"%b%x\r\n%b\r\n" % (self._head(HELD, _CHUNKED), len(said), said))
        holding = context.pace.hold_open(self._run_id, held, self._end)
        self._held = holding if holding.is_open else None  # where the server stops, it has ended already

    def _head(self, *more: tuple[bytes, bytes]) -> bytes:
        headers = (*self._connection.server_state.default_headers, *HEADERS, *more)
        return b"%b%b\r\n" % (_STATUS, b"".join([b"%b: %b\r\n" % header for header in headers]))

    def _end(self, come: bool) -> None:
        """The response is held no more."""
        self._held = None
        if not self._connection.transport.is_closing():
            self._connection.transport.write(b"%x\r\n%b\r\n%b" % (len(COME), COME, _END) if come else _END)
            self._over()

    def _over(self) -> None:
        connection = self._connection
        connection.answered()
        if self._early and not connection.transport.is_closing():
            early, self._early = self._early, b""
            connection.flow.resume_reading()
            connection.data_received(early)


def _is_plain(delivery: Delivery) -> bool:
    """Whether it has nothing but bytes of its own run, and no more than are stored with those of others."""
    if delivery.before or delivery.after or delivery.attempt == 0:
        return False
    return all(part.run_id is None for part in delivery.parts if isinstance(part, JournalPart))
