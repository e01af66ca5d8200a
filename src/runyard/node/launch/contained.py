"""Runs a program in a container: `python -I <sdk folder>/runyard/node/contained.py <container.json>`.

For the node runner this process is the program: it ends with the same exit code or by the same signal, and passes
SIGTERM on. The program's output does not come through here: it goes to the log's file from inside the container.
Should the node runner be killed, the kernel cannot kill the container with it, as it does with other programs: the
engine has started it. So this process does.
"""

from __future__ import annotations

import os
import queue
import resource
import signal
import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

if not __package__:  # started as a file
    sys.path.insert(0, str(Path(__file__).absolute().parents[3]))

from runyard.system.processes import hear_of_parents_end

if TYPE_CHECKING:
    from docker import DockerClient
    from docker.models.containers import Container

    from runyard.environments.containers.runtime import ContainerOrder

RUNNER_GONE = signal.SIGHUP  # nothing else sends it: this process has no terminal
NOT_STARTED = 125  # the exit code of `docker run` when it could not start a container
AWAY_AT_MOST = 60.0  # seconds that an engine may be away, being restarted
SHOWN = 20  # lines of the container's output outside the log


def main(path: str) -> int:
    events: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def pass_on(number: int, _: FrameType | None) -> None:
        events.put(number)

    def end_with_runner(*_: object) -> None:
        events.put(signal.SIGKILL.value)

    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, pass_on)
    signal.signal(RUNNER_GONE, end_with_runner)
    hear_of_parents_end(RUNNER_GONE)
    from runyard.environments.containers.engine import open_engine
    from runyard.environments.containers.runtime import ContainerOrder
    from runyard.environments.problem import EnvironmentProblem

    order = ContainerOrder.load(Path(path))
    try:
        client = open_engine()
        container = _start(client, order)
    except EnvironmentProblem as problem:
        show(f"{problem.message} {problem.help}")
        return NOT_STARTED
    return _stand_for(client, container, order, events)


def show(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _start(client: DockerClient, order: ContainerOrder) -> Container:
    import docker

    from runyard.environments.containers.runtime import creation
    from runyard.environments.problem import EnvironmentProblem
    from runyard.node.launch.processes import COOKIE

    order.variables.pop(COOKIE, None)  # its processes are signalled through the engine, not by the runner as well
    try:
        options = creation(order, client, show)
        try:
            container = client.containers.create(**options)
        except docker.errors.APIError as error:
            if error.status_code != 409:
                raise
            _remove(client.containers.get(options["name"]))  # left by a runner that was killed
            container = client.containers.create(**options)
        try:
            container.start()
        except docker.errors.APIError:
            container.remove(force=True, v=True)
            raise
    except (docker.errors.DockerException, ValueError) as error:
        reason = getattr(error, "explanation", None) or error
        raise EnvironmentProblem(
            "ContainerNotStarted", f"The container could not be started: {reason}", "Check the container's arguments."
        ) from error
    return container


def _stand_for(
    client: DockerClient, container: Container, order: ContainerOrder, events: queue.SimpleQueue[Any]
) -> int:
    """Pass signals on until the container has ended; then end as it has."""
    executor = ThreadPoolExecutor(1)
    waiting = executor.submit(_wait, container)
    waiting.add_done_callback(events.put)
    while True:
        event = events.get()
        if isinstance(event, Future):
            break
        _signal(container, event)
    executor.shutdown()
    state = waiting.result()
    if state is None:
        show("The container engine does not answer any more: what became of the container is not known.")
        return NOT_STARTED
    code = int(state.get("ExitCode") or 0)
    if state.get("OOMKilled"):
        limit = order.arguments.get("memory")
        allowed = f" (--memory {limit})" if limit else ""
        show(f"The container ran out of memory{allowed}: the kernel ended a process of it.")
    if code != 0:
        _show_rest(container)
    _remove(container)
    client.close()
    return code


def _wait(container: Container) -> dict[str, Any] | None:
    """The state of the container once it has ended; None when its engine has gone for good."""
    import docker
    import requests

    deadline = time.monotonic() + AWAY_AT_MOST
    while True:
        try:
            container.wait()
            container.reload()
            state: dict[str, Any] = container.attrs["State"]
            if state.get("Status") not in ("running", "restarting", "paused"):
                return state
            deadline = time.monotonic() + AWAY_AT_MOST
        except docker.errors.NotFound:
            return {"ExitCode": 128 + signal.SIGKILL}  # somebody has removed it
        except (requests.exceptions.RequestException, docker.errors.DockerException):
            if time.monotonic() > deadline:
                return None
            time.sleep(0.5)


def _signal(container: Container, number: int) -> None:
    import docker
    import requests

    try:
        container.kill(signal=signal.Signals(number).name)
    except (docker.errors.DockerException, requests.exceptions.RequestException) as error:
        if "is not running" not in str(error):
            show(f"The container could not be told to stop: {error}")


def _show_rest(container: Container) -> None:
    """Show the container's output outside the log: why its program could not be started."""
    import docker

    try:
        rest = container.logs(tail=SHOWN).decode("utf-8", "replace").strip()
    except docker.errors.DockerException:
        return  # a log driver that cannot be read
    if rest:
        show(rest)


def _remove(container: Container) -> None:
    import docker
    import requests

    try:
        container.remove(force=True, v=True)
    except (docker.errors.DockerException, requests.exceptions.RequestException) as error:
        show(f"The container {container.name} could not be removed: {error}")


def end_as(code: int) -> NoReturn:
    """End with an exit code; one that stands for a signal becomes that signal again."""
    number = code - 128
    if 0 < number < signal.NSIG and number not in (signal.SIGCHLD, signal.SIGSTOP, signal.SIGCONT):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the core that matters was the program's own
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    sys.exit(code)


if __name__ == "__main__":
    end_as(main(sys.argv[1]))
