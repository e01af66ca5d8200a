"""Ties a process to whoever started it. Its text is sent to the nodes of a cluster, so it needs nothing but itself.

    python3 -I -S -c <this text> <process id of the caller> <command> [argument ...]

When a worker of Ray ends, Ray kills what the worker has started, but only that, and with SIGKILL: a node runner could
not end the processes of its run any more. So this process stands between the two. It passes SIGTERM on to the command;
and should it be killed, or the worker, the kernel sends that SIGTERM. It ends as the command has ended.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main(caller: int, command: list[str]) -> int:
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])  # one that comes too early waits
    end_with(caller)
    own = os.getpid()
    child = os.fork()
    if child == 0:
        end_with(own)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
        become(command)
    signal.signal(signal.SIGTERM, lambda number, frame: os.kill(child, signal.SIGTERM))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):  # end in the same way, so that the caller sees the signal
        ended_by = os.WTERMSIG(status)
        if ended_by != signal.SIGKILL:
            signal.signal(ended_by, signal.SIG_DFL)
        os.kill(own, ended_by)
    return os.WEXITSTATUS(status)


def end_with(parent: int) -> None:
    """Have the kernel send this process SIGTERM when its parent is gone. Only Linux can do that."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:  # it was gone before the kernel knew
        os.kill(os.getpid(), signal.SIGTERM)


def become(command: list[str]) -> None:
    try:
        os.execvp(command[0], command)
    except OSError as error:
        os.write(2, f"{command[0]} cannot be started on this node: {error.strerror}.\n".encode())
        os._exit(127)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
