"""Passing requests on to the version that is to answer them; those for which nobody is there wait until somebody is.

Who may not call is refused here: nobody is woken for it. Nor for what only watches the service, or asks as a browser
does before a page's request (OPTIONS, which shows no key): that is no load.

A request is read whole before it is passed on, so that it can be given to another replica when the one that it went to
was about to end: it is given again only when not a byte of an answer has come.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import signal
import time
from pathlib import Path
from typing import Any, Tuple

from runyard.contracts.services.plan import Route, Routes
from runyard.contracts.services.worker import Authentication, is_loopback
from runyard.serving.authentication import NOT_FOR_US, Guard
from runyard.serving.failure import CannotServe
from runyard.serving.gateway import answers
from runyard.serving.gateway.answers import HEALTH, METRICS, READY
from runyard.serving.gateway.load import Loads, VersionLoad
from runyard.serving.gateway.messages import LONGEST_HEAD, BadMessage, Head, body_of, read_head, read_request
from runyard.serving.http.head import BadRequest
from runyard.serving.http.head import Head as Asked
from runyard.serving.http.origins import origin_headers
from runyard.serving.left_files import leave
from runyard.serving.listener import obtain
from runyard.system.json_files import BadFile, read_object

LOOK_EVERY = 0.05
WRITE_EVERY = 1.0
TRIES = 3
IDLE_SECONDS = 75.0
"""Seconds for which a caller's connection may be silent."""

BODY_SECONDS = 600.0
"""Seconds within which a request must be there to its end."""

KEPT = 32
"""Open connections to a version that wait for the next request."""

FREE = (HEALTH, READY, "/v2/health/live", "/v2/health/ready", "/score/v2/health/live", "/score/v2/health/ready")
"""What everybody may ask, and what wakes nobody."""

Pair = Tuple[asyncio.StreamReader, asyncio.StreamWriter]


class NoAnswer(ConnectionError):
    """A replica ended the connection before a byte of an answer came."""


class Gateway:
    def __init__(self, settings: dict[str, Any]) -> None:
        self._service, self._access = str(settings["service"]), str(settings.get("access") or "")
        self._status, self._routes_file = str(settings["status"]), Path(settings["routes"])
        self._wake_seconds = float(settings.get("wake_seconds") or 310.0)
        self._drain_seconds = float(settings.get("drain_seconds") or 30.0)
        self._most_bytes = int(settings.get("max_request_bytes") or 256 << 20)
        self._host = str(settings["host"])
        self._listening, self._offer = obtain(settings["listener"], self._host, int(settings["port"]))
        self._loads = Loads(f"{self._status}.metrics.0")
        self._routes = Routes()
        self._guard = self._guard_by(self._routes)
        self._seen: tuple[int, int] | None = None
        self._changed = asyncio.Event()
        self._idle: dict[tuple[str, int], list[Pair]] = {}
        self._callers: set[asyncio.Task[None]] = set()
        self._draining = False
        self._was_waiting = -1

    async def serve(self) -> int:
        loop = asyncio.get_running_loop()
        ended = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, ended.set)
        if self._offer is not None:
            loop.add_reader(self._offer.fileno(), self._offer.answer)
        self._look()
        server = await asyncio.start_server(self._connected, sock=self._listening, limit=LONGEST_HEAD)
        self._write_status("ready")
        following = asyncio.ensure_future(self._follow())
        await ended.wait()
        self._draining = True
        self._write_status("draining")
        server.close()
        await self._drained()
        following.cancel()
        if self._offer is not None:
            loop.remove_reader(self._offer.fileno())
            self._offer.close()
        return 0

    async def _drained(self) -> None:
        deadline = time.monotonic() + self._drain_seconds
        while self._loads.running + self._loads.waiting and time.monotonic() < deadline:
            await asyncio.sleep(LOOK_EVERY)
        for each in list(self._callers):
            each.cancel()

    # -- where to ---------------------------------------------------------------------------------------------------

    async def _follow(self) -> None:
        """Look at the routes again when they change, and leave the load for whoever scales the service."""
        written = 0.0
        while True:
            self._look()
            self._tell_waiting()
            if time.monotonic() - written > WRITE_EVERY:
                written = time.monotonic()
                self._loads.write()
            await asyncio.sleep(LOOK_EVERY)

    def _look(self) -> None:
        try:
            found = os.stat(self._routes_file)
            now = (found.st_mtime_ns, found.st_ino)
            if now != self._seen:
                routes = Routes.from_dict(read_object(self._routes_file))
                rule = (routes.authentication, routes.allow_unauthenticated)
                if rule != (self._routes.authentication, self._routes.allow_unauthenticated):
                    self._guard = self._guard_by(routes)
                self._routes, self._seen = routes, now
                self._forget_former()
                self._changed.set()
                self._changed = asyncio.Event()
        except (OSError, BadFile, TypeError, CannotServe):  # not there yet, or another version's
            return

    def _guard_by(self, routes: Routes) -> Guard:
        any_name = routes.allow_unauthenticated or not is_loopback(self._host)
        return Guard(Authentication(routes.authentication, self._access), self._service, any_name=any_name)

    def _forget_former(self) -> None:
        """Close what is open to replicas that are not asked any more: their ends of it are closed, and stay so."""
        asked = {(each.host, each.port) for each in self._routes.routes}
        for address in [each for each in self._idle if each not in asked]:
            for _, writer in self._idle.pop(address):
                writer.close()

    def _sharing(self) -> list[Route]:
        return [each for each in self._routes.routes if each.share > 0]

    def _takes(self, version: str) -> bool:
        """Whether a request may wait for this version: one that was removed never answers."""
        routes = self._sharing()
        return any(each.version == version for each in routes) if routes else version == ""

    def _chosen(self) -> str:
        """The version that answers the next request."""
        routes = self._sharing()
        if not routes:
            return ""
        return random.choices(routes, [each.share for each in routes])[0].version

    def _route(self, version: str) -> Route | None:
        found = next((each for each in self._routes.routes if each.version == version), None)
        return found if found is not None and found.port else None

    # -- callers ----------------------------------------------------------------------------------------------------

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._talk(reader, writer))
        self._callers.add(task)
        task.add_done_callback(self._callers.discard)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._answer(reader, writer) and not self._draining:
                continue
        except (BadMessage, BadRequest) as error:
            with contextlib.suppress(ConnectionError):
                await answers.refuse(writer, getattr(error, "status", 400), str(error))
        except (OSError, EOFError, asyncio.TimeoutError):  # the caller has gone, or is silent
            return
        finally:
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; whether the connection is used again."""
        found = await asyncio.wait_for(read_request(reader), IDLE_SECONDS)
        if found is None:
            return False
        head, asked = found
        if asked.expects:
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        body = await asyncio.wait_for(self._whole_body(reader, head), BODY_SECONDS)
        origin = origin_headers(self._routes.cors_origins, asked)
        if not self._guard.knows(asked):
            await answers.send_message(writer, 403, NOT_FOR_US)
            return asked.keep_alive
        if not self._allows(asked, writer):
            await answers.send_message(writer, 401, answers.NOT_ALLOWED, ("WWW-Authenticate", "Bearer"), *origin)
            return asked.keep_alive
        version = self._chosen()
        watches = asked.method in ("GET", "HEAD") and (asked.path in FREE or asked.path == METRICS)
        watches = watches or asked.method == "OPTIONS"
        if watches and (asked.path == HEALTH or self._route(version) is None):
            await answers.send(writer, 200, *answers.asleep(asked), *origin, bodiless=asked.method == "HEAD")
            return asked.keep_alive
        return await self._pass_on(version, watches, head, body, writer)

    async def _whole_body(self, reader: asyncio.StreamReader, head: Head) -> bytearray:
        body = bytearray()
        async for piece in body_of(reader, head):
            body += piece
            if len(body) > self._most_bytes:
                raise BadRequest(413, f"The request has more than {self._most_bytes} bytes (max_request_bytes).")
        return body

    def _allows(self, asked: Asked, writer: asyncio.StreamWriter) -> bool:
        """As the workers have it; they cannot tell who is on this machine, for all requests come to them from here."""
        if asked.path in FREE or asked.method == "OPTIONS" or self._guard.lets(asked):
            return True
        address = writer.get_extra_info("peername") or ("",)
        return asked.path == METRICS and address[0] in ("127.0.0.1", "::1")

    async def _pass_on(
        self, version: str, watches: bool, head: Head, body: bytes | bytearray, writer: asyncio.StreamWriter
    ) -> bool:
        deadline = time.monotonic() + self._wake_seconds
        failed = 0
        while True:
            load = VersionLoad() if watches else self._loads.of(version)
            pair, fresh, address = await self._connection(version, load, deadline)
            if pair is None and not self._takes(version):
                version = self._chosen()
                continue
            if pair is None:
                await answers.refuse(writer, 503, "No replica of the service became ready in time.", retry=True)
                return False
            load.change(running=1)
            try:
                return await self._exchange(pair, address, version, head, body, writer)
            except NoAnswer:
                failed += fresh
                if failed >= TRIES:
                    await answers.refuse(writer, 502, "The process that worked on this request has ended.")
                    return False
                await asyncio.sleep(LOOK_EVERY if fresh else 0)
            finally:
                load.change(running=-1)

    async def _connection(
        self, version: str, load: VersionLoad, deadline: float
    ) -> tuple[Pair | None, bool, tuple[str, int]]:
        """A connection to a replica of a version, whether it is a new one, and its address; waits until there is
        one, or until the version takes no more requests."""
        load.change(waiting=1)
        try:
            while time.monotonic() < deadline and self._takes(version):
                route, changed = self._route(version), self._changed
                if route is not None:
                    address = (route.host, route.port)
                    kept = self._idle.get(address, [])
                    while kept:
                        pair = kept.pop()
                        if not pair[0].at_eof() and not pair[1].is_closing():
                            return pair, False, address
                    with contextlib.suppress(OSError):
                        return await asyncio.open_connection(*address, limit=LONGEST_HEAD), True, address
                self._tell_waiting()
                with contextlib.suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(changed.wait(), LOOK_EVERY if route is not None else 1.0)
            return None, False, ("", 0)
        finally:
            load.change(waiting=-1)

    async def _exchange(
        self,
        pair: Pair,
        address: tuple[str, int],
        version: str,
        head: Head,
        body: bytes | bytearray,
        writer: asyncio.StreamWriter,
    ) -> bool:
        theirs, to_them = pair
        try:
            to_them.write(head.sent_on((b"Connection", b"keep-alive")))
            to_them.write(body)
            await to_them.drain()
            answer = await read_head(theirs)
            while answer is not None and answer.status == 100:
                answer = await read_head(theirs)
        except (ConnectionError, BadMessage) as error:
            to_them.close()
            raise NoAnswer(str(error)) from error
        if answer is None:
            to_them.close()
            raise NoAnswer
        try:
            framed = answer.chunked or answer.length is not None or _has_no_body(head, answer)
            again = head.stays_open and framed and not self._draining
            marks = [(b"X-Runyard-Version", version.encode())] if version else []
            writer.write(answer.sent_on(*marks, (b"Connection", b"keep-alive" if again else b"close")))
            if not _has_no_body(head, answer):
                async for piece in body_of(theirs, answer, until_end=True):
                    writer.write(piece)
                    await writer.drain()
            await writer.drain()
        except BadMessage as error:  # a part of the answer has gone to the caller: there is nothing more to say
            to_them.close()
            raise ConnectionError(str(error)) from error
        except BaseException:
            to_them.close()
            raise
        idle = self._idle.setdefault(address, [])
        if (
            framed
            and answer.stays_open
            and len(idle) < KEPT
            and any(address == (each.host, each.port) for each in self._routes.routes)
        ):
            idle.append(pair)
        else:
            to_them.close()
        return again

    # -- what it tells ----------------------------------------------------------------------------------------------

    def _tell_waiting(self) -> None:
        """Whoever starts replicas looks at the status: it must know at once that somebody waits for the first."""
        waiting = sum(self._loads.of(each.version).waiting for each in self._routes.routes if not each.port)
        if bool(waiting) != bool(self._was_waiting) or self._was_waiting < 0:
            self._was_waiting = waiting
            self._write_status("draining" if self._draining else "ready")

    def _write_status(self, state: str) -> None:
        host, port = self._listening.getsockname()[:2]
        status = {
            "state": state,
            "pid": os.getpid(),
            "host": host,
            "port": port,
            "workers": [],
            "waiting": max(0, self._was_waiting),
            "error": None,
        }
        leave(self._status, status)


def _has_no_body(head: Head, answer: Head) -> bool:
    return head.method == b"HEAD" or answer.status in (204, 304)
