"""Starting the script of a run: which program, with which arguments, and how it is tied to the node runner."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Mapping

from runyard.contracts.plan import Launch
from runyard.node import processes
from runyard.node.problem import RunProblem
from runyard.node.variables import expand

_SHELLS = ("/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/bin/sh")


def program(launch: Launch, work: Path, variables: Mapping[str, str]) -> list[str]:
    """The program to start, and its arguments, with `$NAME` put in place."""
    if launch.command is not None:
        return [_shell(), "-c", launch.command]
    if not launch.script:
        raise RunProblem("InvalidRun", "The run has neither a script nor a command.", "Give one of the two.")
    arguments = [expand(argument, variables) for argument in launch.arguments]
    path = work / launch.script
    if not path.exists():
        raise _script_not_found(launch.script, work)
    if path.suffix in (".sh", ".bash"):
        return [_shell(), launch.script, *arguments]
    if path.suffix != ".py" and path.is_file() and os.access(path, os.X_OK) and _has_interpreter_line(path):
        return [str(path), *arguments]
    return [_interpreter(launch.interpreter, work, variables), launch.script, *arguments]


def start(argv: list[str], work: Path, variables: Mapping[str, str], log: Path) -> subprocess.Popen[bytes]:
    """Start the script in a session of its own. What it writes goes to the file `log` with nothing in between, so
    that nothing is lost when this process dies; and then the script is killed by the kernel."""
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        return subprocess.Popen(
            argv,
            cwd=work,
            env=dict(variables),
            stdin=subprocess.DEVNULL,
            stdout=descriptor,
            stderr=descriptor,
            start_new_session=True,
            preexec_fn=processes.end_with_parent(),
        )
    except (OSError, ValueError) as error:
        words = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise RunProblem(
            "LaunchFailed",
            f"{argv[0]} could not be started: {words}.",
            "Check that the file is there, that it may be run, and that the arguments are not too long.",
        ) from error
    finally:
        os.close(descriptor)


def _shell() -> str:
    return next((shell for shell in _SHELLS if os.access(shell, os.X_OK)), "/bin/sh")


def _interpreter(name: str, work: Path, variables: Mapping[str, str]) -> str:
    """The interpreter's path. `python3` does for `python`, which many systems no longer have."""
    if os.sep in name:
        path = os.path.join(work, os.path.expanduser(name))
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    else:
        for each in (name, "python3") if name == "python" else (name,):
            for folder in variables.get("PATH", os.defpath).split(os.pathsep):
                path = os.path.join(folder or os.curdir, each)
                if os.path.isfile(path) and os.access(path, os.X_OK):
                    return path
    where = "" if os.sep in name else f" on the PATH of the run ({variables.get('PATH', os.defpath)})"
    raise RunProblem(
        "InterpreterNotFound",
        f"There is no Python interpreter {name!r}{where}.",
        "Set `environment.python.interpreter_path` to the full path of an interpreter on the machine of the run.",
    )


def _has_interpreter_line(path: Path) -> bool:
    with open(path, "rb") as file:
        return file.read(2) == b"#!"


def _script_not_found(script: str, work: Path) -> RunProblem:
    beside = sorted(each.name for each in work.iterdir() if each.name not in ("outputs", "logs"))
    held = ", ".join(beside[:10]) + (", ..." if len(beside) > 10 else "") or "nothing"
    return RunProblem(
        "ScriptNotFound",
        f"There is no script {script!r} in the snapshot of the run, which holds: {held}.",
        "`script` is a path relative to source_directory. "
        "A file that .amlignore (or .gitignore) excludes is not part of the snapshot.",
    )
