"""Forks the ranks of a gang from one process that has imported their framework, which takes seconds of each otherwise.
The layer itself is imported by every rank, and so is the script.

    horovod_forks.py SCRIPT MODULES VARIABLES...      a JSON object of variables for each rank
"""

from __future__ import annotations

import importlib
import json
import os
import runpy
import signal
import sys
import traceback


def rank(script: str, variables: dict[str, str]) -> None:
    """Be one rank, and end as Python would."""
    os.environ.update(variables)
    log = os.open(variables["RANK_LOG"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(log, 1)
    os.dup2(log, 2)
    code = 0
    try:
        sys.argv = [script]
        runpy.run_path(script, run_name="__main__")
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
    except BaseException:  # noqa: BLE001 - it is shown as Python shows it
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def main(script: str, modules: str, ranks: list[str]) -> None:
    for name in modules.split(","):
        importlib.import_module(name)
    children = []
    for each in ranks:
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            rank(script, json.loads(each))
        children.append(child)

    def end(*_: object) -> None:
        for child in children:
            os.kill(child, signal.SIGKILL)

    signal.signal(signal.SIGTERM, end)
    print(json.dumps([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
