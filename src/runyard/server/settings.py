"""What an operator can set, on the command line and in the environment. Of the disk only a token file is read here."""

from __future__ import annotations

import argparse
import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

LOOPBACK = "127.0.0.1"


class BadSettings(Exception):
    """A setting that cannot be used; the text names it, and what it takes."""


@dataclass(frozen=True)
class Settings:
    """How a server runs. `token`, `secret` and `url` are empty until the process has made or found them."""

    home: Path
    host: str | None = None  # None: the address of the last time, else loopback's
    port: int | None = None  # None: the port of the last time, else the default one, else any
    database_url: str | None = None  # None: SQLite in the home folder
    token: str = ""  # reaches everything
    secret: str = ""  # signs run tokens and view keys
    url: str = ""  # where processes on this machine reach the server
    grace_seconds: float = 10.0  # between asking a run to stop and ending it
    local_runs: int | None = None  # how many runs this machine takes at once; None: as many as its cores suggest


def read(arguments: Sequence[str], environment: Mapping[str, str]) -> Settings:
    """The settings of one start. The command line wins over the environment."""
    given = _parser().parse_args(arguments)
    port = given.port if given.port is not None else environment.get("RUNYARD_PORT") or None
    return Settings(
        home=Path(environment.get("RUNYARD_HOME") or "~/.runyard").expanduser().absolute(),
        host=given.host or environment.get("RUNYARD_HOST") or None,
        port=None if port is None else _port(port),
        database_url=given.database_url or environment.get("RUNYARD_DATABASE_URL") or None,
        token=_token(given.token_file, environment),
        grace_seconds=_number("RUNYARD_GRACE_SECONDS", environment, 10.0),
        local_runs=int(_number("RUNYARD_LOCAL_RUNS", environment, 0)) or None,
    )


def is_loopback(host: str) -> bool:
    """Whether only processes on this machine reach a socket on `host`."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m runyard.server", description="Serve one home folder (RUNYARD_HOME) in the foreground."
    )
    parser.add_argument(
        "--host", help=f"the address to listen on (RUNYARD_HOST; default: that of the last time, else {LOOPBACK})"
    )
    parser.add_argument(
        "--port", help="the port to listen on (RUNYARD_PORT; default: that of the last time, else 7420)"
    )
    parser.add_argument(
        "--database-url", help="SQLAlchemy URL (RUNYARD_DATABASE_URL; default: SQLite in the home folder)"
    )
    parser.add_argument("--token-file", type=Path, help="a file with a token of your own (or RUNYARD_TOKEN)")
    return parser


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > 65535:
        raise BadSettings(f"{text!r} is not a port: use a number from 0 (any free port) to 65535.")
    return int(text)


def _number(name: str, environment: Mapping[str, str], default: float) -> float:
    text = environment.get(name, "").strip()
    try:
        number = float(text) if text else default
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise BadSettings(f"{name} is {text!r}: use a number that is not negative.")
    return number


def _token(file: Path | None, environment: Mapping[str, str]) -> str:
    if file is None:
        return environment.get("RUNYARD_TOKEN", "").strip()
    try:
        token = file.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BadSettings(f"The token file {file} cannot be read: {error}.") from error
    if not token:
        raise BadSettings(f"The token file {file} is empty: put a long random token in it.")
    return token
