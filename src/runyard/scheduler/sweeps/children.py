"""The run of a trial: what the parent was asked to start, with the trial's parameters after the fixed arguments."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from runyard.contracts.plan import RESUMED, RESUMES
from runyard.contracts.sweeps.space import option
from runyard.contracts.sweeps.sweep import PARAMETERS_TAG, BadSweep
from runyard.scheduler.sweeps.trials import Trial
from runyard.store.runs import runs
from runyard.store.runs.records import NewRun, Run

Json = dict[str, Any]

RESUME = "--resume-from"
"""The option by which SDK v1 tells a script where the outputs of the run are that it resumes."""
PLACE = f"$AZUREML_CR_EXECUTION_WORKING_DIR_PATH/{RESUMED}"


@dataclass(frozen=True)
class Template:
    """What all children of a sweep have in common: snapshot, environment, target, fixed arguments."""

    parent: Run
    definition: Json
    launch: Json
    properties: Mapping[str, str | None]

    def run_of(self, trial: Trial, resumes: str = "") -> NewRun:
        """The run of a trial; `resumes` is a run whose outputs its script is given."""
        added = arguments(trial.parameters)
        launch = {**self.launch, RESUMES: resumes} if resumes else self.launch
        return NewRun(
            id=trial.run_id,
            workspace=self.parent.workspace,
            experiment=self.parent.experiment,
            experiment_id=self.parent.experiment_id,
            reason=f"child {trial.number} of the sweep {self.parent.id}",
            parent_id=self.parent.id,
            tags={PARAMETERS_TAG: json.dumps(dict(trial.parameters))},
            properties=dict(self.properties),
            target=self.parent.target,
            submitted_by=self.parent.submitted_by,
            snapshot_id=self.parent.snapshot_id,
            definition=_with(self.definition, added, bool(resumes)),
            launch=_with(launch, added, bool(resumes)),
            nodes=self.parent.nodes,
        )


def arguments(parameters: Mapping[str, Any]) -> list[str]:
    """Parameters as a script is given them: all text.

    >>> arguments({"lr": 0.1, "--layers": [64, 32]})
    ['--lr', '0.1', '--layers', '[64, 32]']
    """
    return [text for name, value in parameters.items() for text in (option(name), _text(value))]


def parameters_of(connection: Connection, run_id: str) -> dict[str, Any]:
    """The parameters of a child of some sweep; refused when it is none."""
    text = runs.get(connection, run_id).tags.get(PARAMETERS_TAG)
    try:
        found = json.loads(text or "")
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise BadSweep(f"The run {run_id!r} is no child of a sweep, so it cannot be resumed by one.")
    return found


def _text(value: object) -> str:
    return json.dumps(value) if isinstance(value, (list, dict)) else str(value)


def _with(document: Json, added: list[str], resumes: bool) -> Json:
    """A definition or a launch with further arguments. Those of a command are a part of it. The path of the outputs
    that it resumes is known on the node alone, so that it is written with a variable."""
    if document.get("command"):
        words = [str(document["command"]), *map(shlex.quote, added), *((RESUME, f'"{PLACE}"') if resumes else ())]
        return {**document, "command": " ".join(words)}
    further = [*added, *((RESUME, PLACE) if resumes else ())]
    return {**document, "arguments": [*(document.get("arguments") or []), *further]}
