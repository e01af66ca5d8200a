"""How mpirun's daemons come to the other nodes of a run, without ssh.

mpirun calls the agent as it would call ssh: with a host and a command. The agent is a few lines of shell that hand
the command on through a pipe in the run's folder, wait, and end as the command has ended; `Agents`, on the other end
of the pipe, has the command run on that node.
"""

from __future__ import annotations

import os
import re
import select
import shlex
import shutil
import tempfile
import threading
from pathlib import Path
from types import TracebackType
from typing import Callable, List, Mapping, Protocol

from runyard.node.log import log_line
from runyard.node.mpi.flavours import Mpi
from runyard.node.mpi.ranks import PREFIX, SHELL
from runyard.node.mpi.settings import HOST, IDENTITY
from runyard.node.problem import RunProblem

_LOOK_EVERY = 1.0
_SAFE = re.compile(r"[\w./@+-]+", re.ASCII)  # Open MPI takes an agent's path apart at spaces and colons

_AGENT = """#!/bin/sh
# Called by mpirun in place of ssh, on node 0: [options] host command...
while :; do case "$1" in -*) shift ;; *) break ;; esac; done
node=${1#%(host)s}
shift
[ "$node" != 0 ] || exec /bin/sh -c "$*"
cd %(place)s || exit 1
mkfifo -m 600 "answer.$node" || exit 1
printf '%%s\\n' "$*" >"command.$node"
echo "$node" >requests
read -r code <"answer.$node" || code=1
exit "${code:-1}"
"""


class Spawned(Protocol):
    """A command that runs on a node."""

    def wait(self, timeout: float) -> int | None:
        """Its exit code; None when it has not ended in time."""

    def stop(self) -> None:
        """End it, and all that it has started."""


Spawn = Callable[[int, List[str], Mapping[str, str]], Spawned]
"""Starts a command on a node, in the node's working folder, with these variables on top of `node_environment`. It is
called in a thread of its own for each node."""


class Agents:
    """On node 0, for as long as mpirun runs: starts on the other nodes what mpirun's agents request.

    with Agents(folder, mpi, spawn):
        argv, environment = command(mpi, plan, meeting, program, variables, folder)
        ...
    """

    def __init__(self, folder: Path, mpi: Mpi, spawn: Spawn) -> None:
        self._folder, self._prefix, self._spawn = folder / "mpi", mpi.prefix, spawn
        self._place = self._folder
        self._requests = self._wake = self._woken = -1
        self._closed = threading.Event()
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Agents:
        self._place = _make_place(self._folder)
        agent = self._place / "agent"
        agent.write_text(_AGENT % {"host": HOST, "place": shlex.quote(str(self._place))}, "utf-8")
        agent.chmod(0o700)
        self._requests = os.open(self._place / "requests", os.O_RDWR)  # both ends: it never reads as ended
        self._woken, self._wake = os.pipe()
        self._start(self._listen)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closed.set()
        os.close(self._wake)
        for thread in list(self._threads):
            thread.join()
        os.close(self._requests)
        os.close(self._woken)
        shutil.rmtree(self._place, ignore_errors=True)
        if self._place != self._folder:
            self._folder.unlink()

    def _start(self, work: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=work, args=arguments, name="mpi-agents", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _listen(self) -> None:
        pending = b""
        while not self._closed.is_set():
            ready, _, _ = select.select([self._requests, self._woken], [], [])
            if self._requests not in ready:
                continue
            pending += os.read(self._requests, 1 << 16)
            *lines, pending = pending.split(b"\n")
            for line in lines:
                if line.isdigit():
                    self._start(self._serve, int(line))

    def _serve(self, node: int) -> None:
        """Run a command on a node, and pass its exit code to its agent."""
        answer = os.open(self._place / f"answer.{node}", os.O_RDWR)
        try:
            code = self._run(node, (self._place / f"command.{node}").read_text("utf-8").strip())
            os.write(answer, f"{code}\n".encode())
            self._closed.wait()  # until then the answer waits in the pipe for an agent that is slow to read it
        finally:
            os.close(answer)

    def _run(self, node: int, text: str) -> int:
        # A path below the folder of node 0's MPI becomes one below that of the node's own MPI.
        text = text.replace(f"{self._prefix}/", f"${PREFIX}/").replace(' ess "env"', f' ess "${{{IDENTITY}:-env}}"')
        # A daemon gets the agent's path too, never calls it, and ends where it is missing: it is on node 0's disk.
        text = text.replace(os.path.realpath(self._place / "agent"), SHELL)
        try:
            spawned = self._spawn(node, [SHELL, "-c", text], {})
        except (RunProblem, OSError) as problem:
            log_line(f"mpirun's daemon could not be started on node {node}: {problem}")
            return 1
        while not self._closed.is_set():
            code = spawned.wait(_LOOK_EVERY)
            if code is not None:
                return code if code >= 0 else 128 - code
        spawned.stop()
        return 1


def _make_place(folder: Path) -> Path:
    """The folder of the agent and its pipes: in the run's own, or behind a link where that will not do."""
    try:
        if _SAFE.fullmatch(str(folder)):
            folder.mkdir(mode=0o700)
            os.mkfifo(folder / "requests", 0o600)
            return folder
    except FileExistsError:
        raise
    except OSError:
        shutil.rmtree(folder)  # a file system without pipes
    place = Path(tempfile.mkdtemp(prefix="runyard-mpi-"))
    os.mkfifo(place / "requests", 0o600)
    folder.symlink_to(place)
    return place
