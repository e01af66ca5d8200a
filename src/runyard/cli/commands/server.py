"""`runyard up`, `down` and `serve`: the server of this home folder, in the background or in the foreground."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from runyard.cli import errors
from runyard.cli.options import JsonOption
from runyard.cli.output import formatting, screen
from runyard.cli.parameters import Option
from runyard.contracts import home as homes

HostOption = Annotated[
    str | None,
    Option(
        "--host",
        help="The address to listen on: by default that of the last time, else loopback's. Any but that needs a token "
        "of your own.",
        show_default=False,
    ),
]
PortOption = Annotated[
    int | None,
    Option(
        "--port",
        min=0,
        max=65535,
        help=f"The port: by default that of the last time, else {homes.DEFAULT_PORT}.",
        show_default=False,
    ),
]
DatabaseOption = Annotated[
    str | None,
    Option("--database-url", help="PostgreSQL instead of SQLite in the home folder.", show_default=False),
]
TokenFileOption = Annotated[
    Path | None, Option("--token-file", help="A file with a token of your own.", show_default=False)
]


def up(
    host: HostOption = None,
    port: PortOption = None,
    database_url: DatabaseOption = None,
    token_file: TokenFileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Start the server in the background, unless it runs already."""
    from runyard.client.server_process import ensure_server, find_server

    home = homes.home()
    found = find_server(home)
    settings = _settings(host, port, database_url, token_file)
    if found is not None and settings:
        raise errors.CommandError(
            f"The server runs already, at {found.url}; it takes other settings only when it starts.",
            "`runyard down`, then the same command again. Runs go on meanwhile.",
            code="server_running",
        )
    os.environ.update(settings)  # the new process inherits them
    with screen.spinner("Starting the server ..."):
        url = ensure_server(home)
    if as_json:
        screen.document({"url": url, "home": str(home), "started": found is None})
        return
    print(f"The server {'runs' if found is not None else 'has started and runs'} at {url}")
    print(f"It keeps everything in {home}")
    print("Next:")
    for command in ("submit train.py --follow", "ls", "doctor", "down"):
        print(f"  {formatting.program()} {command}")


def _settings(host: str | None, port: int | None, database_url: str | None, token_file: Path | None) -> dict[str, str]:
    """The environment of a server that is to run like that."""
    settings = {}
    if host is not None:
        settings["RUNYARD_HOST"] = host
    if port is not None:
        settings["RUNYARD_PORT"] = str(port)
    if database_url is not None:
        settings["RUNYARD_DATABASE_URL"] = database_url
    if token_file is not None:
        try:
            settings["RUNYARD_TOKEN"] = token_file.read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise errors.CommandError(
                f"The token file {token_file} cannot be read: {error}.", exit_code=errors.USAGE
            ) from error
    return settings


def down(
    services: Annotated[
        bool, Option("--services", help="Stop the services too; they come back with the server.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Stop the server. Runs and services that are under way go on, and deliver what they have when it is back."""
    from runyard.client.server_process import stop_server

    if services:
        _stop_services()
    with screen.spinner("Stopping the server ..."):
        stopped = stop_server(homes.home())
    if as_json:
        screen.document({"stopped": stopped})
    else:
        print("The server has stopped." if stopped else "No server was running.")
        left = [] if services else _services_left(homes.home())
        if left:
            print(f"These services go on: {', '.join(left)}. `{formatting.program()} down --services` stops them too.")


def _stop_services() -> None:
    from runyard.cli import api

    server = api.connect_if_running(homes.home(), 10.0)
    if server is not None:
        with screen.spinner("Stopping the services ..."):
            server.client.post("/api/services/stop", {}, timeout=120)


def _services_left(home: Path) -> list[str]:
    """The services whose processes go on without the server, by the plans of their runs."""
    from runyard.contracts.plan import Plan
    from runyard.system.json_files import BadFile

    found = set()
    for folder in sorted((home / "runs").glob("service_*")):
        try:
            service = Plan.load(folder).launch.service
        except (OSError, BadFile):
            continue
        if service:
            found.add(str(service.get("service")))
    return sorted(found)


def serve(
    host: HostOption = None,
    port: PortOption = None,
    database_url: DatabaseOption = None,
    token_file: TokenFileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run the server in the foreground, until Ctrl-C or SIGTERM."""
    from runyard.server import process, settings

    arguments = []
    for name, value in (("host", host), ("port", port), ("database-url", database_url), ("token-file", token_file)):
        if value is not None:
            arguments += [f"--{name}", str(value)]
    try:
        process.serve(settings.read(arguments, os.environ))
    except settings.BadSettings as error:
        raise errors.CommandError(str(error), exit_code=errors.USAGE, code="usage") from error
    except process.CannotStart as error:
        raise errors.CommandError(str(error), exit_code=errors.UNREACHABLE, code="server_not_started") from error
