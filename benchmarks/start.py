"""How long it takes from submit to the first line of the script, with everything warm."""

from __future__ import annotations

import contextlib
import shutil
import sys
import tempfile
from pathlib import Path

from benchmarks import measure, ray_head, venvs
from benchmarks.measure import Conversation, Failed, Measure
from benchmarks.submitting import Pipe, call, commanded
from benchmarks.table import Table, durations, not_measured, ratio
from benchmarks.venvs import NotInstalled, Say

COLUMNS = ("submit → the script's first line", "time", "× bare")
BARE = "bare subprocess"
SCRIPT = "first_line.py"


def run(quick: bool, say: Say) -> list[Table]:
    contenders: dict[str, Measure[float]] = {BARE: _bare}
    missing: dict[str, str] = {}
    with contextlib.ExitStack() as stack:
        folder = Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="start-benchmark-", ignore_cleanup_errors=True))
        )
        for name, enter in {"Runyard": _runyard, "submitit": _submitit, "Ray": _ray}.items():
            try:
                contenders |= enter(folder, stack, say)
            except (NotInstalled, Failed, TimeoutError) as error:
                missing[name] = str(error)
        say("warming up")
        warm = measure.in_turn(contenders, 1, lambda said: None)
        outcomes = measure.in_turn(
            {n: c for n, c in contenders.items() if not warm[n].failure}, 3 if quick else 11, say
        )
    bare = outcomes[BARE].samples
    rows = []
    for name in contenders:
        failure = warm[name].failure or outcomes[name].failure
        if failure:
            rows.append(not_measured(name, failure, len(COLUMNS)))
        else:
            rows.append((name, durations(outcomes[name].samples), ratio(outcomes[name].samples, bare)))
    rows += [not_measured(name, reason, len(COLUMNS)) for name, reason in missing.items()]
    notes = ("The commands count the start of their own interpreter, the others are a process that is up already.",)
    return [Table("Starting a script", COLUMNS, tuple(rows), notes)]


def _runyard(folder: Path, stack: contextlib.ExitStack, say: Say) -> dict[str, Measure[float]]:
    ours = venvs.runyard(say)
    home = str(stack.enter_context(measure.yard(ours)))
    project = folder / "project"
    project.mkdir()
    shutil.copy(measure.script(SCRIPT), project)
    warm = _converse(
        stack,
        [ours.python, measure.script("start_runyard.py"), str(project)],
        folder / "runyard.log",
        RUNYARD_HOME=home,
    )

    def command(pipe: str) -> None:
        submit = [
            ours.command("runyard"),
            "submit",
            "--follow",
            "--python",
            ours.python,
            str(project / SCRIPT),
            "--",
            pipe,
        ]
        call(submit, RUNYARD_HOME=home)

    return {"Runyard experiment.submit": _asked(warm, "wait"), "Runyard, `runyard submit`": commanded(command)}


def _submitit(folder: Path, stack: contextlib.ExitStack, say: Say) -> dict[str, Measure[float]]:
    peers = venvs.peers(venvs.LAUNCHERS, say)
    submitit = _converse(
        stack, [peers.python, measure.script("start_submitit.py"), str(folder / "submitit")], folder / "submitit.log"
    )
    return {f"submitit {peers.version('submitit')}, local": _asked(submitit, "wait")}


def _ray(folder: Path, stack: contextlib.ExitStack, say: Say) -> dict[str, Measure[float]]:
    peers = venvs.peers(venvs.LAUNCHERS, say)
    say("starting a local Ray ...")
    ray = stack.enter_context(ray_head.started(peers))
    jobs = _converse(
        stack,
        [peers.python, measure.script("start_ray.py"), ray.address, measure.script(SCRIPT)],
        folder / "ray.log",
        **ray.variables,
    )

    def command(pipe: str) -> None:
        submit = [peers.command("ray"), "job", "submit", "--no-wait", "--address", ray.address, "--"]
        call([*submit, peers.python, measure.script(SCRIPT), pipe], **ray.variables)

    name = f"Ray {peers.version('ray')}"
    return {
        f"{name}, job client": _asked(jobs, "idle"),
        f"{name}, `ray job submit`": commanded(command, then=lambda: jobs.ask("idle")),
    }


def _bare() -> float:
    def command(pipe: str) -> None:
        call([sys.executable, measure.script(SCRIPT), pipe])

    return commanded(command)()


def _asked(conversation: Conversation, settle: str) -> Measure[float]:
    """Ask a process that is up to submit; afterwards wait for the run's end, so that it does not disturb the next."""

    def measured() -> float:
        with Pipe() as pipe:
            submitted = conversation.ask("submit", pipe.path)["at"]
            began = pipe.read()
            conversation.ask(settle)
        return float(began - submitted)

    return measured


def _converse(stack: contextlib.ExitStack, command: list[str], log: Path, **more: str) -> Conversation:
    conversation = Conversation(command, log, **more)
    stack.callback(conversation.close)
    return conversation


if __name__ == "__main__":
    from benchmarks.__main__ import main

    main(["start", *sys.argv[1:]])
