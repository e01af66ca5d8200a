"""The server as a process: one per home folder, from its lock to its end. A failure is reported in one line.

Exit codes: 2 wrong arguments, 3 another server has this home, 4 no socket, 5 open to others without a token,
6 the database cannot be used, 7 the home folder cannot be used.
"""

from __future__ import annotations

import errno
import gc
import json
import logging
import os
import secrets
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from runyard import __version__
from runyard.contracts import home as homes
from runyard.server import own_home, sockets
from runyard.server import settings as settings_
from runyard.server.home_lock import HomeLock, Taken
from runyard.server.settings import Settings
from runyard.system import processes

if TYPE_CHECKING:
    import socket

USAGE, RUNS_ALREADY, NO_SOCKET, NO_TOKEN, NO_DATABASE, NO_HOME = 2, 3, 4, 5, 6, 7

SHORTEST_TOKEN = 16
"""Characters of a token that others may try to guess."""

log = logging.getLogger("runyard.server")


class CannotStart(Exception):
    """Why there is no server, as a message, and the exit code for it."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


def main(arguments: Sequence[str]) -> int:
    """Serve until SIGTERM or SIGINT; returns the exit code."""
    try:
        serve(_read(arguments))
    except CannotStart as error:
        print(f"runyard: {error}", file=sys.stderr)
        return error.code
    except KeyboardInterrupt:  # before the server listens to signals itself
        return 128 + signal.SIGINT
    except Exception as error:
        log.debug("the server failed", exc_info=True)
        print(f"runyard: The server failed: {type(error).__name__}: {error}", file=sys.stderr)
        return 1
    return 0


def serve(settings: Settings) -> None:
    """Serve one home folder until a signal ends it. Raises CannotStart with the reason."""
    if settings.token:
        _refuse_short("The token", settings.token)
    if settings.host is not None:
        _refuse_open_door(settings.host, settings.token)
    with _home(settings.home), _lock(settings.home) as lock:
        host = settings.host or _last_host(settings, lock)
        with _socket(host, settings.port, lock) as listener:
            settings = replace(_with_keys(settings), url=sockets.address(host, listener.getsockname()[1]))
            _run(settings, listener)


def _run(settings: Settings, listener: socket.socket) -> None:
    _log_to_stderr()
    # Loaded now: whoever is refused above gets to know it at once. Nothing that is loaded ever becomes garbage, so
    # looking for it would only cost time: a tenth of the start, and a little at every later collection.
    gc.disable()
    from runyard.server.app import create_app
    from runyard.server.connections import raise_limit
    from runyard.server.garbage import collect_young
    from runyard.server.threads import take_short_turns
    from runyard.server.uvicorn_server import Server
    from runyard.store.errors import DiskFull, StoreError

    def started() -> None:
        pid = os.getpid()
        record = {"url": settings.url, "pid": pid, "version": __version__, "started": processes.started(pid)}
        homes.write_private(homes.server_file(settings.home), json.dumps(record))
        log.info("runyard %s serves %s at %s", __version__, settings.home, settings.url)

    raise_limit()
    take_short_turns()
    server = Server(create_app(settings), started)
    gc.freeze()
    collect_young()
    gc.enable()
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, server.handle_exit)
    try:
        server.run(sockets=[listener])
    except StoreError as error:
        code = NO_HOME if isinstance(error, DiskFull) else NO_DATABASE
        raise CannotStart(code, f"{error.title} {error.help}".strip()) from error
    finally:
        _forget(settings)
    log.info("runyard has stopped")


def _read(arguments: Sequence[str]) -> Settings:
    try:
        return settings_.read(arguments, os.environ)
    except settings_.BadSettings as error:
        raise CannotStart(USAGE, str(error)) from error


def _last_host(settings: Settings, lock: HomeLock) -> str:
    """The address of the last time. If others reach it, the operator's own token is in the home since then."""
    if lock.last_host is None:
        return settings_.LOOPBACK
    _refuse_open_door(lock.last_host, settings.token or homes.read_token(settings.home) or "")
    return lock.last_host


def _refuse_open_door(host: str, token: str) -> None:
    if not token and not settings_.is_loopback(host):
        raise CannotStart(
            NO_TOKEN,
            f"Listening on {host} lets other machines in, so it needs a token of your own: whoever has it can "
            f"run programs as you. Set RUNYARD_TOKEN or --token-file, or use --host {settings_.LOOPBACK}.",
        )


def _refuse_short(what: str, token: str) -> None:
    """On loopback too: whoever else works on this machine can guess as well as a stranger."""
    if len(token) < SHORTEST_TOKEN:
        raise CannotStart(
            NO_TOKEN,
            f"{what} has {len(token)} characters, which others can guess: use at least {SHORTEST_TOKEN} random ones, "
            "such as those of `python -c 'import secrets; print(secrets.token_urlsafe(32))'`.",
        )


@contextmanager
def _home(home: Path) -> Iterator[None]:
    """Make the home folder, and explain what goes wrong with it."""
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        own_home.check(home)
        yield
    except own_home.Shared as error:
        raise CannotStart(NO_HOME, str(error)) from error
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            text = (
                f"There is no space left on the disk of {home}. Free some, or set RUNYARD_HOME to a folder elsewhere."
            )
        else:
            text = f"{error.filename or home} cannot be used: {error.strerror}. Set RUNYARD_HOME to another folder."
        raise CannotStart(NO_HOME, text) from error


@contextmanager
def _lock(home: Path) -> Iterator[HomeLock]:
    try:
        lock = HomeLock(home)
    except Taken as error:
        raise CannotStart(RUNS_ALREADY, str(error)) from error
    with lock:
        yield lock


@contextmanager
def _socket(host: str, port: int | None, lock: HomeLock) -> Iterator[socket.socket]:
    try:
        listener = sockets.listen(host, port, lock.last_port)
    except sockets.CannotListen as error:
        raise CannotStart(NO_SOCKET, str(error)) from error
    with listener:
        lock.record(host, listener.getsockname()[1])
        yield listener


def _with_keys(settings: Settings) -> Settings:
    """The token and the secret of this home, made the first time.

    The file `token` always holds the token of the home's server, so that clients on this machine find it.
    """
    found = homes.read_token(settings.home)
    token = settings.token or found or secrets.token_urlsafe(32)
    _refuse_short(f"The token in {settings.home / 'token'}", token)
    if token != found:
        homes.write_private(settings.home / "token", token + "\n")
    file = settings.home / "secret"
    try:
        secret = file.read_bytes().decode("utf-8", "replace").strip()
    except FileNotFoundError:
        secret = ""
    if not secret:
        secret = secrets.token_urlsafe(32)
        homes.write_private(file, secret + "\n")
    _refuse_short(f"The secret in {file}", secret)
    return replace(settings, token=token, secret=secret)


def _forget(settings: Settings) -> None:
    running = homes.read_server(settings.home)
    if running is not None and running.pid == os.getpid():
        homes.server_file(settings.home).unlink(missing_ok=True)


def _log_to_stderr() -> None:
    logging.basicConfig(
        stream=sys.stderr,
        level=logging.WARNING,
        format="%(asctime)s %(levelname)s %(message)s",
        datefmt="%Y-%m-%d %H:%M:%S",
    )
    debug = os.environ.get("RUNYARD_DEBUG", "") not in ("", "0")
    logging.getLogger("runyard").setLevel(logging.DEBUG if debug else logging.INFO)
