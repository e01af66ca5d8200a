"""The environment of a run: found, or built, before its script is started.

The output of a build goes to `streams/environment.log`; what the run got becomes properties of it. An interpreter
that is there already costs nothing here. How an environment is made is decided in `runyard.environments`.
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Callable

from runyard.contracts.environment import CURRENT, Specification
from runyard.contracts.history import BUILD_LOG, ENVIRONMENT_LOG
from runyard.contracts.plan import Plan
from runyard.node.log import log_line
from runyard.node.prepare import recording
from runyard.node.problem import RunProblem

if TYPE_CHECKING:
    from runyard.environments.prepare import Around, Ready

WRITER = "environment"  # of the journal with the run's properties, and the number of the attempt


def ready(plan: Plan, folder: Path, check: Callable[[], None], report: Callable[[str], None]) -> Ready | None:
    """The environment that the script is started in; None when the plan's interpreter is there already.

    `report` is called with the reason before something takes long; `check` is called often, and may raise to give up.
    """
    specification = Specification.from_dict(plan.launch.environment)
    if specification.kind == CURRENT:
        for note in plan.launch.notes:
            log_line(note)
        return None
    from runyard.environments.prepare import Around, peek
    from runyard.environments.problem import EnvironmentProblem

    notes = tuple(plan.launch.notes)
    around = Around(
        Path(plan.environments), plan.relax, plan.environments_limit, plan.secrets, notes, plan.real_horovod
    )
    try:
        found = peek(specification, around, log_line)
        if found is None:
            report(f"the environment {specification.name!r} is being built: {BUILD_LOG} shows how")
            found = _build(specification, around, plan, folder, check)
    except EnvironmentProblem as problem:
        raise RunProblem(problem.code, problem.message, problem.help) from problem
    log_line(f"environment {found.key}: {found.built.image or found.built.interpreter}")
    if plan.node == 0:  # the other nodes have the same
        _record(plan, folder, found)
    return found


def _build(specification: Specification, around: Around, plan: Plan, folder: Path, check: Callable[[], None]) -> Ready:
    from runyard.environments.prepare import prepare
    from runyard.environments.problem import EnvironmentProblem

    with open(folder / "streams" / ENVIRONMENT_LOG, "a", encoding="utf-8", buffering=1) as log:

        def note(line: str) -> None:
            log.write(f"{line}\n")

        try:
            return prepare(specification, around, note, check, partial(_bring, plan, folder, check))
        except EnvironmentProblem as problem:
            note(f"\n{problem.message}\n{problem.help}".rstrip())
            raise


def _bring(plan: Plan, folder: Path, check: Callable[[], None], address: str) -> Path:
    from runyard.node.prepare.server_files import bring

    return bring(address, plan, folder, check)


def _record(plan: Plan, folder: Path, found: Ready) -> None:
    """Record what the run got."""
    built = found.built
    properties = {
        "runyard.environment.key": found.key,
        "runyard.environment.used": built.image or built.interpreter,
        "runyard.environment.python": built.python,
        "runyard.environment.changes": json.dumps(built.changes, ensure_ascii=False) if built.changes else "",
    }
    recorded = {name: value for name, value in properties.items() if value}
    recording.record(plan, folder, WRITER, recorded)
