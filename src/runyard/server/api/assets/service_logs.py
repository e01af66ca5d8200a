"""What a service has written: the logs of the runs that are its replicas, one after the other, the newest last."""

from __future__ import annotations

from runyard.contracts import history
from runyard.contracts.states import TERMINAL
from runyard.server.api.files import open_file
from runyard.store.assets import services
from runyard.store.assets.services import Replica, Service
from runyard.store.errors import NotFound
from runyard.store.store import Store

LOOKED_AT = 8 << 20
"""Bytes from the end of each log: more than the lines that anybody asks for."""


def live_replicas(store: Store, workspace: str, name: str) -> tuple[Service, list[str]]:
    """A service, and the runs that go on to write for it."""
    with store.database.read() as connection:
        service = services.get(connection, workspace, name)
        return service, [each.run_id for each in services.replicas(connection, service) if each.status not in TERMINAL]


def text(store: Store, service: Service, tail: int, revision: int | None = None, init: bool = False) -> str:
    """The last lines of each replica that there is; of all revisions, unless one is named."""
    with store.database.read() as connection:
        found = services.replicas(connection, service)
    wanted = [each for each in found if revision in (None, each.revision)]
    name = history.system_log(history.ENVIRONMENT_LOG) if init else history.user_log(history.SCRIPT_LOG)
    parts = []
    for replica in wanted:
        lines = _tail(store, replica.run_id, name, tail)
        if not init and (not lines or replica.seen.get("error")):
            lines += _cause(replica, lines)
        if len(wanted) > 1 and lines:
            parts.append(f"--- {replica.run_id} (revision {replica.revision}, {replica.state})\n")
        parts.append("".join(lines))
    return "".join("".join(parts).splitlines(keepends=True)[-tail:])


def _cause(replica: Replica, lines: list[str]) -> list[str]:
    """Why a replica does not answer, where its own log does not end with that."""
    error = replica.error or replica.seen.get("error") or {}
    message = str(error.get("message") or "")
    if not message or any(message.splitlines()[0] in line for line in lines):
        return []
    return [f"{line}\n" for line in (message, str(error.get("help") or "")) if line]


def _tail(store: Store, run_id: str, name: str, tail: int) -> list[str]:
    try:
        opened = open_file(store, run_id, name)
    except NotFound:
        return []
    with opened.file as file:
        file.seek(max(0, opened.size - LOOKED_AT))
        content = file.read(min(opened.size, LOOKED_AT))
    return content.decode("utf-8", "replace").splitlines(keepends=True)[-tail:]
