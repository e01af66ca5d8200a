"""The task that a keeper starts on each node of a gang: it runs the node runner, and returns how that ended.

Like the keeper, this is sent to the cluster by value, so it needs nothing but itself.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile


def run_node(tether: str, command: list[str], environment: dict[str, str]) -> tuple[int, str]:
    """Run the command in the place of this worker; its exit code, and the end of its output."""
    cancelled = [False]

    def cancel(*_: object) -> None:
        cancelled[0] = True

    # This is how Ray cancels a task. The handler stays: without it, a late signal would end the worker.
    signal.signal(signal.SIGINT, cancel)
    with tempfile.TemporaryFile() as output:
        try:
            process = subprocess.Popen(
                [command[0], "-I", "-S", "-c", tether, str(os.getpid()), *command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env={**environment_of_node(), **environment},
                cwd="/",
                start_new_session=True,
            )
        except OSError as error:
            return 127, f"{command[0]} cannot be started on this node: {error.strerror}"
        while True:
            try:
                code = process.wait(1.0 if cancelled[0] else 0.1)
                break
            except subprocess.TimeoutExpired:
                if cancelled[0]:
                    process.terminate()
        output.seek(max(0, output.seek(0, os.SEEK_END) - 2000))
        return code, output.read().decode("utf-8", "replace").strip()


def environment_of_node() -> dict[str, str]:
    """The variables of this worker without those that Ray has set for itself. GPUs stay: they are the task's."""
    own = ("RAY_", "PYTHONPATH", "OMP_NUM_THREADS", "LD_PRELOAD", "PYTHONBREAKPOINT")
    return {name: value for name, value in os.environ.items() if not name.startswith(own)}


def signal_name(number: int) -> str:
    """As `runyard.node.outcome.exits` has it, which is not on the node. Real-time signals have no name."""
    known = {each.value: each.name for each in signal.Signals}
    return known.get(number, f"signal {number}")
