"""A stand-in for the Python with Ray: it speaks the driver's protocol, and does on command what no real one does."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

DRIVER = """#!{python}
import json, os, pathlib, sys, time
folder = pathlib.Path({folder!r})
def write(**message):
    print(json.dumps(message), flush=True)
(folder / "settings").write_text(sys.stdin.readline())
(folder / "pid").write_text(str(os.getpid()))
if (folder / "refusal").exists():
    write(**json.loads((folder / "refusal").read_text()))
    sys.exit()
for event in ("loaded", "connected"):
    write(event=event)
write(event="ready", keeper="keeper-1", ray="0")
amounts = {{"has": {{"CPU": 4.0}}, "free": {{"CPU": 4.0}}}}
nodes = [{{"id": "a", "name": "n1", "address": "10.0.0.1", "leaving": False, **amounts}}]
known = set()
for line in sys.stdin:
    request = json.loads(line)
    number, do, gang = request["id"], request["do"], request.get("gang")
    with open(folder / "requests", "a") as file:
        file.write(do + "\\n")
    if (folder / "deaf").exists():
        os._exit(1)
    answer = nodes if do == "nodes" else None
    if do == "start":
        known.add(gang)
    if do == "find" and gang in known:
        answer = {{"name": gang, "state": "waits", "reason": ""}}
    write(id=number, answer=answer)
    if do in ("start", "stop"):
        state = {{"name": gang, "state": "placed", "nodes": ["a"], "how": "", "taken": False, "reason": ""}}
        if do == "stop":
            state.update(state="ended", how="it was stopped")
        write(event="gangs", keeper="keeper-1", gangs=[state])
"""


class StandIn:
    """The folder through which a test steers the stand-in, and its interpreter."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.python = str(folder / "python")
        Path(self.python).write_text(DRIVER.format(python=sys.executable, folder=str(folder)))
        Path(self.python).chmod(0o755)

    def refuse(self, error: str, away: bool) -> None:
        (self.folder / "refusal").write_text(json.dumps({"event": "failed", "error": error, "away": away}))

    def requests(self) -> list[str]:
        return (self.folder / "requests").read_text().split()


@pytest.fixture
def stand_in(tmp_path: Path) -> StandIn:
    folder = tmp_path / "stand-in"
    folder.mkdir()
    return StandIn(folder)


@pytest.fixture
def listening() -> Iterator[int]:
    """The port of something that listens, as the head of a cluster does."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]
