"""The run of a trial: what the script is given."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from runyard.scheduler.sweeps.children import Template
from runyard.scheduler.sweeps.trials import Trial
from runyard.store.runs.records import SWEEP, Run

NOW = datetime.now(timezone.utc)
PARENT = Run(
    *("HD_1", 1, "local", "exp", "e", None, "HD_1", SWEEP, "hyperdrive", None, None, None, "Running", None, "hpc"),
    *(NOW, NOW, None, {}, {}, "me", "ab", None, []),
    nodes=2,
)
TRIAL = Trial(3, "HD_1_3", {"--lr": 0.1, "name": "a b", "flag": True})


def test_parameters_come_after_the_fixed_arguments_as_text() -> None:
    template = Template(
        PARENT, {"arguments": ["--fixed", 1]}, {"script": "x.py", "arguments": ["--fixed", "1"]}, {"p": "q"}
    )
    made = template.run_of(TRIAL)
    assert made.launch is not None
    assert made.launch["arguments"] == ["--fixed", "1", "--lr", "0.1", "--name", "a b", "--flag", "True"]
    assert made.definition["arguments"][2:] == made.launch["arguments"][2:]
    assert (made.id, made.parent_id, made.snapshot_id, made.target, made.nodes) == ("HD_1_3", "HD_1", "ab", "hpc", 2)
    assert made.tags == {"hyperparameters": '{"--lr": 0.1, "name": "a b", "flag": true}'}


@pytest.mark.parametrize("value", ["a b", "$(rm -rf /)", "'; true"])
def test_a_command_gets_them_quoted(value: str) -> None:
    import shlex

    made = Template(PARENT, {"command": "python x.py"}, {"command": "python x.py"}, {}).run_of(
        Trial(0, "HD_1_0", {"name": value})
    )
    assert made.launch is not None
    assert shlex.split(str(made.launch["command"])) == ["python", "x.py", "--name", value]


def test_a_resumed_run_comes_with_the_place_of_its_outputs() -> None:
    place = "$AZUREML_CR_EXECUTION_WORKING_DIR_PATH/resumed_outputs"
    script = Template(PARENT, {"arguments": []}, {"script": "x.py"}, {}).run_of(TRIAL, "HD_0_1")
    assert script.launch is not None
    assert (script.launch["resumes"], script.launch["arguments"][-2:]) == ("HD_0_1", ["--resume-from", place])
    command = Template(PARENT, {"command": "x"}, {"command": "x"}, {}).run_of(TRIAL, "HD_0_1")
    assert command.launch is not None
    assert command.launch["command"].endswith(f' --resume-from "{place}"')
