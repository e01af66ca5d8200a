"""The widget: alive in a real kernel without keeping it, harmless whatever a script has logged, and text elsewhere."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from runyard.client.server_process import ensure_server, stop_server
from runyard.sdk.exceptions import UserErrorException
from runyard.sdk.experiment import Experiment
from runyard.sdk.run.run import Run
from runyard.sdk.widgets import rendering, run_details
from runyard.sdk.widgets.overview import METRICS, POINTS, look
from runyard.sdk.widgets.run_details import RunDetails
from runyard.sdk.workspace.workspace import Workspace

OPENING = """
from azureml.core import Experiment, Workspace
from azureml.widgets import RunDetails
experiment = Experiment(Workspace.from_config(), 'widgets')
"""
HOSTILE = "<script>alert(1)</script>&\"' \x1b]0;title\x07\x1b[2J"


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
        from runyard.sdk import run_widget
        print('the kernel is free while the run is', run.get_status())
        while 'last words' not in run_widget._watches[run.id]._seen.tail: time.sleep(0.05)
        open({str(tmp_path / "go")!r}, 'w').close()
        run.wait_for_completion()
        """,
        """
        while run_widget._watches: time.sleep(0.05)
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


def assert_plain(html: str) -> None:
    """Its tags are closed in their order, and neither they nor their attributes can do anything."""
    opened: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
            assert tag in ("div", "pre", "span", "strong", "a", "svg", "polyline", "polygon")
            assert not [name for name, _ in attributes if name.startswith("on")]
            for name, value in attributes:
                assert name != "href" or str(value).startswith("http")
            opened.append(tag)

        def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
            self.handle_starttag(tag, attributes)
            opened.pop()

        def handle_endtag(self, tag: str) -> None:
            assert opened.pop() == tag

    Reader().feed(html)
    assert not opened


def test_what_users_have_written_does_no_harm(experiment: Experiment) -> None:
    run = experiment.start_logging(display_name=HOSTILE, outputs=None, snapshot_directory=None)
    run.log(HOSTILE, 1.0)
    run.log(HOSTILE, 2.0)
    run.log("text", HOSTILE)
    run.log_row("table", **{HOSTILE: HOSTILE})
    run.log("numbers", float("nan"))
    run.log("numbers", float("inf"))
    run.log("wide", -1.7e308)
    run.log("wide", 1.7e308)
    with run:
        print(HOSTILE)
        run.fail(ZeroDivisionError(HOSTILE))
    seen = look(experiment.workspace.service, run.id)
    html, text = rendering.html(seen, HOSTILE), rendering.text(seen, HOSTILE)
    assert_plain(html)
    assert html.count("&lt;script&gt;") >= 6, "each of the texts is there, and escaped"
    assert "inf" not in html[html.index("wide") :].partition("<polyline")[2].partition("</svg>")[0]
    for shown in (html, text):
        assert "\x1b" not in shown
        assert "\x07" not in shown


def test_a_run_with_many_metrics_and_points_is_looked_at_in_bounds(experiment: Experiment) -> None:
    run = experiment.start_logging(outputs=None, snapshot_directory=None)
    run.log_table("table", {"x": list(range(5000))})
    run.log_list("words", ["w" * 100] * 5000)
    for number in range(100):
        run.log_list(f"metric {number}", list(range(1000)))
    run.complete()
    seen = look(experiment.workspace.service, run.id)
    assert len(seen.metrics) == METRICS
    assert seen.more_metrics
    table, words, first = seen.metrics[:3]
    assert (table["columns"]["x"], table["count"]) == (list(range(5000 - POINTS, 5000)), 5000)
    assert (len(words["values"]), words["count"]) == (POINTS, 5000)
    assert first["count"] == 1000
    html = rendering.html(seen)
    assert len(html) < 100_000
    assert_plain(html)
    assert "There are more metrics" in html
    data = RunDetails(run).get_widget_data()
    assert (data["status"], data["run_id"], data["loading"]) == ("Completed", run.id, False)
    assert data["workbench_run_details_uri"] == run.get_portal_url()
    drawn = {metric["name"]: metric for metric in data["run_metrics"]}
    assert drawn["metric 0"]["categories"] == list(range(POINTS))
    assert drawn["metric 0"]["series"][0]["data"][-1] == 999
    assert drawn["table"]["series"][0]["name"] == "x"


class Screen:
    """What a display handle of IPython is given."""

    def __init__(self) -> None:
        self.pictures: list[str] = []
        self.times: list[float] = []

    def update(self, obj: Any, **options: Any) -> None:
        self.pictures.append(obj["text/html"])
        self.times.append(time.monotonic())


def wait_for(screen: Screen, words: str) -> None:
    deadline = time.monotonic() + 120
    while not any(words in picture for picture in screen.pictures):
        assert time.monotonic() < deadline, f"{words!r} was never shown"
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


def test_diagnostics_are_not_collected_and_that_is_said_once() -> None:
    code = (
        "import logging\nfrom azureml.telemetry import set_diagnostics_collection\n"
        "set_diagnostics_collection(send_diagnostics=False)\nprint('-')\n"
        "set_diagnostics_collection(send_diagnostics=True)\nset_diagnostics_collection(True, logging.INFO, 'x', 'y')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ, "NO_COLOR": "1"}
    )
    assert done.stderr.count("collects no diagnostics") == 1
