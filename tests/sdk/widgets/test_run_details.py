"""The widget: alive in a real kernel without keeping it, harmless whatever a script has logged, and text elsewhere."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from runyard.client.server_process import ensure_server, stop_server
from runyard.sdk.exceptions import UserErrorException
from runyard.sdk.experiment import Experiment
from runyard.sdk.run.run import Run
from runyard.sdk.widgets import run_details
from runyard.sdk.widgets.run_details import RunDetails
from runyard.sdk.workspace.workspace import Workspace

OPENING = """
from azureml.core import Experiment, Workspace
from azureml.widgets import RunDetails
experiment = Experiment(Workspace.from_config(), 'widgets')
"""


def run_cells(*cells: str) -> list[Any]:
    """The outputs of the cells, run one after the other in a kernel of their own; then the kernel is ended."""
    form: Any = nbformat.v4
    notebook = form.new_notebook()
    notebook.cells = [form.new_code_cell(textwrap.dedent(cell)) for cell in (OPENING, *cells)]
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    return [cell.outputs for cell in notebook.cells[1:]]


def test_in_a_notebook_it_follows_the_run_after_its_cell_has_ended(workspace: Workspace, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "train.py").write_text(
        "import os, time\nfrom azureml.core import Run\nrun = Run.get_context()\n"
        "for i in range(300): run.log('loss', 1 / (i + 1))\nprint('last words', flush=True)\n"
        f"while not os.path.exists({str(tmp_path / 'go')!r}): time.sleep(0.02)\n"
    )
    shown, waited, ended = run_cells(
        f"""
        from azureml.core import ScriptRunConfig
        run = experiment.submit(ScriptRunConfig({str(project)!r}, script='train.py'))
        RunDetails(run).show()
        """,
        f"""
        import threading, time
        from runyard.sdk.widgets import run_details
        print('the kernel is free while the run is', run.get_status())
        while 'last words' not in run_details._watches[run.id]._seen.tail: time.sleep(0.05)
        open({str(tmp_path / "go")!r}, 'w').close()
        run.wait_for_completion()
        """,
        """
        while run_details._watches: time.sleep(0.05)
        print([each.name for each in threading.enumerate() if 'widget' in each.name])
        print(sorted(name for name in ('ipywidgets', 'matplotlib', 'pandas') if name in __import__('sys').modules))
        """,
    )
    assert "the kernel is free while the run is" in str(waited)
    (display,) = [output for output in shown if output.output_type == "display_data"]
    html, text = display.data["text/html"], display.data["text/plain"]
    assert "Completed" in html, "the last picture is that of the end"
    assert "<svg" in html
    assert "<polyline" in html
    assert "last words" in html
    assert 'href="http' in html
    assert "<script" not in html
    assert "Completed" in text
    assert "loss" in text
    assert ended[0].text == "[]\n[]\n", "no thread is left, and nothing was loaded for it"


def test_a_run_that_has_ended_is_there_when_the_cell_has_ended(workspace: Workspace) -> None:
    (shown,) = run_cells(
        "run = experiment.start_logging(outputs=None, snapshot_directory=None)\n"
        "run.log('acc', 0.5); run.complete()\nRunDetails(run)"
    )
    (display,) = [output for output in shown if output.output_type == "display_data"]
    assert "Completed" in display.data["text/html"]
    assert "acc" in display.data["text/html"]


def test_in_a_terminal_it_is_text_and_ipython_is_not_loaded(experiment: Experiment) -> None:
    run = experiment.start_logging(outputs=None, snapshot_directory=None)
    for value in (3, 2, 1):
        run.log("loss", value)
    run.complete()
    code = (
        "import sys\nfrom azureml.core import Run, Workspace\nfrom azureml.widgets import RunDetails\n"
        f"RunDetails(Run.get(Workspace.from_config(), {run.id!r})).show()\n"
        "print([name for name in ('IPython', 'yaml', 'numpy') if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert lines[0] == f"Run {run.id} of {experiment.name}: Completed"
    assert "  loss  1 (3 points)" in lines
    assert run.get_portal_url() in done.stdout
    assert lines[-1] == "[]"


class Screen:
    """What a display handle of IPython is given."""

    def __init__(self) -> None:
        self.pictures: list[str] = []
        self.times: list[float] = []

    def update(self, obj: Any, **options: Any) -> None:
        self.pictures.append(obj["text/html"])
        self.times.append(time.monotonic())


def wait_for(screen: Screen, message: str) -> None:
    deadline = time.monotonic() + 120
    while not any(message in picture for picture in screen.pictures):
        assert time.monotonic() < deadline, f"{message!r} was never shown"
        time.sleep(0.02)


def watched(run: Any, screen: Screen) -> run_details.Watch:
    watch = run_details.Watch(run._service, run.id)
    with run_details._lock:
        run_details._watches[run.id] = watch
        watch.add(screen)
    watch.start()
    return watch


def test_a_server_that_was_stopped_is_not_started_by_looking(own_home: Path) -> None:
    workspace = Workspace.from_config()
    asked = {"workspace": workspace.name, "experiment": "stopped", "kind": "interactive", "definition": {}}
    run = Run.get(workspace, workspace.service.post("/api/runs", asked)["id"])  # which no process of this test ships
    screen = Screen()
    watch = watched(run, screen)
    wait_for(screen, "Running")
    stop_server(own_home)
    wait_for(screen, "This is how it was seen last")
    assert not (own_home / "server.json").exists()
    ensure_server(own_home)
    run.complete()
    wait_for(screen, "Completed")
    watch._thread.join(60)
    assert not watch._thread.is_alive()
    pauses = [later - earlier for earlier, later in zip(screen.times, screen.times[1:], strict=False)]
    assert min(pauses) >= run_details.EVERY, "it draws at most once a second"


def test_the_widget_of_a_run_that_was_deleted_says_so_and_ends(experiment: Experiment) -> None:
    run = experiment.start_logging(outputs=None, snapshot_directory=None)
    run.complete()
    run._service.delete(run._address())
    screen = Screen()
    watch = watched(run, screen)
    wait_for(screen, "There is no run")
    watch._thread.join(60)
    assert not watch._thread.is_alive()
    assert run.id not in run_details._watches


def test_it_wants_a_run() -> None:
    with pytest.raises(UserErrorException, match="not a value of the type str"):
        RunDetails("run_1")  # type: ignore[arg-type]
