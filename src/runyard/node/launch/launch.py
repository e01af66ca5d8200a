"""Starting the script of a run: which program, with which arguments, and how it is tied to the node runner."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Mapping

from runyard.contracts.plan import Launch, Plan
from runyard.node.launch.tie import tie
from runyard.node.launch.variables import expand
from runyard.node.log import log_line
from runyard.node.problem import RunProblem

if TYPE_CHECKING:
    from runyard.environments.builder import Built
    from runyard.environments.containers.runtime import Seat

_SHELLS = ("/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/bin/sh")


def program(launch: Launch, work: Path, variables: Mapping[str, str], built: Built | None = None) -> list[str]:
    """The program to start, and its arguments, with `$NAME` put in place."""
    shell = "/bin/sh" if built is not None and built.image else _shell()
    if launch.command is not None:
        return [shell, "-c", launch.command]
    if not launch.script:
        raise RunProblem("InvalidRun", "The run has neither a script nor a command.", "Give one of the two.")
    arguments = [expand(argument, variables) for argument in launch.arguments]
    path = work / launch.script
    if not path.exists():
        raise _script_not_found(launch.script, work)
    if path.suffix in (".sh", ".bash"):
        return [shell, launch.script, *arguments]
    if path.suffix != ".py" and path.is_file() and os.access(path, os.X_OK) and _has_interpreter_line(path):
        return [str(path), *arguments]
    return [python(launch, work, variables, built), launch.script, *arguments]


def python(launch: Launch, work: Path, variables: Mapping[str, str], built: Built | None = None) -> str:
    """The interpreter of a run."""
    return built.interpreter if built is not None else _interpreter(_named(launch), work, variables)


def contained(
    argv: list[str], plan: Plan, folder: Path, variables: Mapping[str, str], image: str, seat: Seat | None = None
) -> list[str]:
    """What to start instead, so that the program runs in a container of the image: one for each process."""
    from runyard.environments.containers.runtime import contained_argv
    from runyard.environments.problem import EnvironmentProblem

    try:
        return contained_argv(folder, plan.sdk, plan.run_id, image, argv, variables, plan.launch.container, seat)
    except EnvironmentProblem as problem:
        raise RunProblem(problem.code, problem.message, problem.help) from problem


def start(argv: list[str], work: Path, variables: Mapping[str, str], log: Path) -> subprocess.Popen[bytes]:
    """Start the script in a session of its own. What it writes goes to the file `log` with nothing in between, so
    that nothing is lost when this process dies; and then the script is killed by the kernel."""
    tied = tie(argv[0])
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        return subprocess.Popen(
            [*tied.before, *argv],
            cwd=work,
            env=dict(variables),
            stdin=subprocess.DEVNULL,
            stdout=descriptor,
            stderr=descriptor,
            start_new_session=True,
            preexec_fn=tied.step,
        )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise RunProblem(
            "LaunchFailed",
            f"{argv[0]} could not be started: {reason}.",
            "Check that the file is there, that it may be run, and that the arguments are not too long.",
        ) from error
    finally:
        os.close(descriptor)


def _shell() -> str:
    return next((shell for shell in _SHELLS if os.access(shell, os.X_OK)), "/bin/sh")


def _named(launch: Launch) -> str:
    """The interpreter to look for. A node of a cluster may lack the submitter's: where nobody has chosen it, and the
    run is not beside its submitter (whose shell would have come along), the node's own Python does."""
    chosen = not launch.environment or launch.environment.get("interpreter") or launch.shell
    if chosen or os.sep not in launch.interpreter or os.access(launch.interpreter, os.X_OK):
        return launch.interpreter
    log_line(f"{launch.interpreter} is not on this node; its own Python runs the script")
    return "python"


def _interpreter(name: str, work: Path, variables: Mapping[str, str]) -> str:
    """The path of the interpreter. What is not called like one must show that it is: `ls train.py` would not fail."""
    path = _program(name, work, variables)
    if not os.path.basename(name).lower().startswith(("python", "pypy")) and not _is_python(path, variables):
        raise RunProblem(
            "InterpreterNotPython",
            f"{name} is no Python interpreter: it does not run Python code.",
            "Set `environment.python.interpreter_path` to that of an interpreter, such as /home/me/venv/bin/python.",
        )
    return path


def _is_python(path: str, variables: Mapping[str, str]) -> bool:
    argv = [path, "-c", "import sys; print(sys.version_info[0])"]
    try:
        done = subprocess.run(argv, capture_output=True, env=dict(variables), timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and done.stdout.strip().isdigit()


def _program(name: str, work: Path, variables: Mapping[str, str]) -> str:
    """Where a program is. `python3` does for `python`, which many systems no longer have."""
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
