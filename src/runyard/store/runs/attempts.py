"""Attempts of a run: one that loses its nodes is started again, and the logs of the former attempt stay.

restart     why the attempt under way is to be followed by another one; a run in Queued that has one waits until
            nothing of the former attempt is alive any more
meeting     the address of the leader of the attempt's nodes
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, select, update

from runyard.contracts import history, names
from runyard.contracts.compute import RESTARTS
from runyard.store.content import files
from runyard.store.errors import Conflict
from runyard.store.runs import runs
from runyard.store.tables import launches


def ask(connection: Connection, run_id: str, why: str) -> None:
    """Request another attempt, with the reason."""
    _set(connection, run_id, restart=why)


def most(connection: Connection, run_id: str) -> int:
    """How often the run may be started again."""
    _, launch = runs.definition_and_launch(connection, run_id)
    return int((launch or {}).get("restarts", RESTARTS))


def begin_next(connection: Connection, run_id: str) -> int:
    """The former attempt is over, and nothing of it is alive: its logs make room for those of the next one. Returns
    the number of that one."""
    run = runs.get(connection, run_id)
    found = [entry.name for entry in files.find(connection, run_id)]
    files.rename(connection, run_id, former_names(found, run.attempt, _log_folders(connection, run_id)))
    _set(connection, run_id, attempt=run.attempt + 1, restart=None, meeting=None, handle=None)
    return run.attempt + 1


def former_names(found: Iterable[str], attempt: int, folders: Iterable[str]) -> dict[str, str]:
    """What the logs of an attempt are called once it is over. Those of attempts before it stay as they are.

    >>> former_names(["user_logs/std_log.txt", "outputs/model.pt", "user_logs/attempt_1/std_log.txt"], 2, ["user_logs"])
    {'user_logs/std_log.txt': 'user_logs/attempt_2/std_log.txt'}
    """
    moved = {}
    for folder in sorted(folders, key=len):  # a folder within another one goes with it
        for name in found:
            below = name[len(folder) + 1 :] if name.startswith(f"{folder}/") else ""
            former = history.attempt_in(below)
            if below and name not in moved and not (former is not None and former < attempt):
                moved[name] = history.former_log(name, attempt, folder)
    return moved


def place_of(connection: Connection, run_id: str, name: str, attempt: int | None) -> str:
    """What a file that an attempt has written is called: `name`, unless another attempt is under way by now. A
    node that was cut off until then must not write into the files of that one: its own are stored beside them. None:
    it is not known which attempt has written the file."""
    serial = runs.serial_of(connection, run_id)
    if attempt is None:
        return name
    current = connection.scalar(select(launches.c.attempt).where(launches.c.run == serial))
    if current is None or attempt >= current:
        return name
    logs = former_names([name], attempt, _log_folders(connection, run_id))
    return logs.get(name, history.of_attempt(attempt, name))


def meet(connection: Connection, run_id: str, attempt: int, address: str) -> None:
    """Store the address of an attempt's leader."""
    _must_be_under_way(connection, run_id, attempt)
    _set(connection, run_id, meeting={"attempt": attempt, "address": address})


def meeting(connection: Connection, run_id: str, attempt: int) -> str | None:
    """The address of an attempt's leader; None as long as it has not reported one."""
    _must_be_under_way(connection, run_id, attempt)
    serial = runs.serial_of(connection, run_id)
    found: Any = connection.scalar(select(launches.c.meeting).where(launches.c.run == serial))
    return str(found["address"]) if found and found["attempt"] == attempt else None


def _log_folders(connection: Connection, run_id: str) -> set[str]:
    """The usual ones, and those that the run asked to be followed. What is in `outputs` is not begun anew."""
    _, launch = runs.definition_and_launch(connection, run_id)
    folders = set(history.LOG_FOLDERS)
    for folder in (launch or {}).get("directories_to_watch", ()):
        with contextlib.suppress(names.BadName):  # it was not followed either
            folders.add(names.check_file(folder))
    return {folder for folder in folders if folder.partition("/")[0] != "outputs"}


def _must_be_under_way(connection: Connection, run_id: str, attempt: int) -> None:
    """A node that was left behind by its run must not wait for ever, nor mislead others."""
    run = runs.get(connection, run_id)
    if attempt == run.attempt and not (run.ended or run.between_attempts):
        return
    now = f"it is {run.status}" if run.ended else f"it is at attempt {run.attempt + run.between_attempts}"
    raise Conflict(
        "run_not_under_way",
        f"Attempt {attempt} of run {run_id!r} is not under way: {now}.",
        "Node runners of a former attempt have nothing more to do.",
        {"run": run_id, "attempt": run.attempt, "status": run.status},
    )


def _set(connection: Connection, run_id: str, **values: object) -> None:
    serial = runs.serial_of(connection, run_id)
    connection.execute(update(launches).where(launches.c.run == serial).values(**values))
