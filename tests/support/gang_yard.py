"""A yard with a cluster: submits gangs to one compute target, reads what each rank said, and knows what is left."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
from tests.journeys.conftest import Yard
from tests.support.gang_places import Place

from azureml.core import Environment, Experiment, Run, ScriptRunConfig
from azureml.core.runconfig import MpiConfiguration, PyTorchConfiguration, TensorflowConfiguration
from runyard.sdk.submit.distributed import PlainConfiguration

ENDED = ("Completed", "Failed", "Canceled")

Distribution = MpiConfiguration | PyTorchConfiguration | TensorflowConfiguration | PlainConfiguration


class GangYard(Yard):
    """A yard whose runs go to the cluster of one engine."""

    def __init__(self, home: Path, folder: Path, place: Place) -> None:
        super().__init__(home, folder)
        self.place = place
        self.submitted: list[Run] = []

    def gang_config(
        self,
        script: str,
        *arguments: object,
        distribution: Distribution | None = None,
        python: Path | None = None,
        max_seconds: int | None = None,
    ) -> ScriptRunConfig:
        environment = Environment("user-managed-env")
        environment.python.user_managed_dependencies = True
        environment.python.interpreter_path = str(python or sys.executable)
        return ScriptRunConfig(
            source_directory=str(self.project(script)),
            script="train.py",
            arguments=list(arguments),
            compute_target=self.place.name,
            environment=environment,
            distributed_job_config=distribution,
            max_run_duration_seconds=max_seconds,
        )

    def gang(
        self,
        script: str,
        *arguments: object,
        distribution: Distribution | None = None,
        python: Path | None = None,
        max_seconds: int | None = None,
    ) -> Run:
        config = self.gang_config(script, *arguments, distribution=distribution, python=python, max_seconds=max_seconds)
        return self.send(config)

    def send(self, config: ScriptRunConfig) -> Run:
        run = Experiment(self.workspace, "gangs").submit(config)
        self.submitted.append(run)
        return run

    def finish(self, run: Run, status: str = "Completed") -> None:
        """Wait for the end of a run, and for this end. One that does not come in time, or is another, is explained."""
        try:
            self.wait(lambda: run.get_status() in ENDED, f"the end of {run.id}")
            run.wait_for_completion(raise_on_error=False, wait_post_processing=True)
            assert run.get_status() == status
        except AssertionError as problem:
            raise AssertionError(f"{problem}\n{self._story(run)}") from None

    def _story(self, run: Run) -> str:
        logs = run.get_details_with_logs()["logFiles"]
        lines = [f"{state['status']}: {state.get('reason') or ''}" for state in self.shown(run)["states"]]
        lines += [f"error: {run.get_details().get('error')}"]
        lines += [f"--- {name}\n{text[-1500:]}" for name, text in logs.items()]
        for path in sorted((self.home / "runs").glob("*/streams/*.log")):
            lines.append(f"--- {path}\n{path.read_text('utf-8', 'replace')[-1500:]}")
        return "\n".join(lines)

    def log(self, run: Run, rank: int, folder: str = "user_logs") -> str:
        texts: dict[str, str] = run.get_details_with_logs()["logFiles"]
        return texts.get(f"{folder}/std_log_process_{rank}.txt", "")

    def error(self, run: Run) -> str:
        return json.dumps(run.get_details()["error"], ensure_ascii=False)

    def shown(self, run: Run) -> dict[str, Any]:
        """What `runyard show` tells of a run."""
        told: dict[str, Any] = json.loads(self.runyard("show", run.id, "--json"))
        return told

    def runyard(self, *words: str) -> str:
        command = [str(Path(sys.executable).with_name("runyard")), *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def runner(self, run: Run, node: int) -> psutil.Process:
        """The node runner of one node. All nodes are on this machine, whatever the engine."""
        folder = self.home / "runs" / (f"{run.id}@{node}" if node else run.id)
        return psutil.Process(int(json.loads((folder / "runner.lock").read_text())["pid"]))

    def of_run(self, run: Run) -> list[psutil.Process]:
        """Every process of a run that is alive: node runners, ranks and what they have started."""
        return self._of_any([run])

    def nothing_left(self) -> None:
        """Wait until every run has ended, no process of any is alive and no folder is there. What a failed test has
        left under way is cancelled."""
        for run in self.submitted:
            if run.get_status() not in ENDED:
                run.cancel()
        for run in self.submitted:
            self.wait(lambda run=run: run.get_status() in ENDED, f"the end of {run.id}")  # type: ignore[misc]
        self.wait(lambda: not self._of_any(self.submitted), "the processes of the runs to go")
        self.wait(lambda: not list((self.home / "runs").glob("*")), "the folders of the runs to go")

    def _of_any(self, runs: list[Run]) -> list[psutil.Process]:
        ids = [run.id for run in runs]
        found = []
        for process in psutil.process_iter():
            words = _words(process)
            if any(each in words for each in ids):
                found.append(process)
        return found


def _words(process: psutil.Process) -> str:
    with contextlib.suppress(psutil.Error):
        if process.status() != psutil.STATUS_ZOMBIE:
            return "\0".join([*process.cmdline(), *process.environ().values()])
    return ""
