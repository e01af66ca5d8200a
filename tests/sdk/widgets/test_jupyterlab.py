"""The widget in a real JupyterLab, in a real browser: what a user sees below the cell, while the run goes on, and in
the page that the saved notebook is exported to."""

from __future__ import annotations

import os
import re
import secrets
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
import pytest
from nbclient import NotebookClient
from tests.support import frameworks
from tests.support.browser import PATIENCE

import runyard
from runyard.system.processes import end_with_parent

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from runyard.sdk.run.run import Run
    from runyard.sdk.workspace.workspace import Workspace

pytestmark = [pytest.mark.slow, pytest.mark.framework]

SOURCES = Path(runyard.__file__).parent.parent
CELL = """
from azureml.core import Workspace
from azureml.core.run import get_run
from azureml.widgets import RunDetails
from azureml.core import Experiment
run = get_run(Experiment(Workspace.from_config(), 'widgets'), {run!r})
RunDetails(run).show()
"""
ARGUMENTS = (
    *("--no-browser", "--allow-root", "--ip=127.0.0.1", "--port=0", "--LabApp.news_url=None"),
    *("--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate", "--LabApp.extension_manager=readonly"),
)


FORM: Any = nbformat.v4


def notebook_of(run: Run) -> Any:
    notebook = FORM.new_notebook(cells=[FORM.new_code_cell(CELL.format(run=run.id))])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return notebook


def started(workspace: Workspace) -> Run:
    """A run that has logged a curve and goes on."""
    from azureml.core import Experiment

    run: Run = Experiment(workspace, "widgets").start_logging(outputs=None, snapshot_directory=None)
    for step in range(20):
        run.log("loss", 1 / (step + 1), step=step)
    run.flush()
    return run


@pytest.fixture
def lab(tmp_path: Path, workspace: Workspace) -> Iterator[tuple[str, Path]]:
    """A JupyterLab whose kernels find the workspace; its address, and the folder of its notebooks."""
    python = frameworks.environment("jupyterlab")
    notebooks, own = tmp_path / "notebooks", tmp_path / "jupyter"
    notebooks.mkdir()
    token, log = secrets.token_hex(16), tmp_path / "lab.log"
    places = {f"JUPYTER_{name}_DIR": str(own / name) for name in ("CONFIG", "DATA", "RUNTIME")}
    home = str(own)
    with log.open("wb") as out:
        process = subprocess.Popen(
            [python, "-m", "jupyterlab", *ARGUMENTS, f"--IdentityProvider.token={token}"],
            cwd=notebooks,
            env={**os.environ, **places, "HOME": home, "PYTHONPATH": str(SOURCES), "IPYTHONDIR": home},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            preexec_fn=end_with_parent(),
        )
    try:
        deadline = time.monotonic() + 120
        while not (found := re.search(r"http://127\.0\.0\.1:(\d+)/lab", log.read_text())):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.1)
        yield f"http://127.0.0.1:{found[1]}/lab/tree/run.ipynb?token={token}", notebooks
    finally:
        process.terminate()
        process.wait(30)


def test_a_run_below_its_cell(lab: tuple[str, Path], workspace: Workspace, chromium: Browser) -> None:
    run = started(workspace)
    address, folder = lab
    (folder / "run.ipynb").write_text(FORM.writes(notebook_of(run)))
    context = chromium.new_context(viewport={"width": 1100, "height": 900})
    context.set_default_timeout(3 * PATIENCE)
    page: Page = context.new_page()
    try:
        page.goto(address)
        page.locator(".jp-CodeCell .cm-content").first.click()
        page.get_by_text("Kernel status: Idle").first.wait_for(state="attached")
        page.keyboard.press("Shift+Enter")
        shown = page.locator(".jp-OutputArea-output")
        shown.locator("svg[role=img][aria-label^='loss']").wait_for()
        shown.get_by_text("Running").wait_for()
        run.complete()
        shown.get_by_text("Completed").wait_for()
        assert shown.locator("script").count() == 0
    finally:
        context.close()


def test_a_notebook_that_was_exported_without_network(tmp_path: Path, workspace: Workspace, chromium: Browser) -> None:
    """What `jupyter nbconvert` makes of it loads its own scripts from elsewhere; the widget needs none of them."""
    run = started(workspace)
    run.complete()
    notebook, page_of_it = tmp_path / "run.ipynb", tmp_path / "run.html"
    executed = notebook_of(run)
    NotebookClient(executed, timeout=300, kernel_name="python3").execute()
    notebook.write_text(FORM.writes(executed))
    python = frameworks.environment("jupyterlab")
    command = [str(python), "-m", "nbconvert", "--to", "html", str(notebook), "--output", str(page_of_it)]
    environment = {**os.environ, "HOME": str(tmp_path), "JUPYTER_CONFIG_DIR": str(tmp_path / "config")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    context = chromium.new_context(viewport={"width": 1100, "height": 900}, java_script_enabled=False, offline=True)
    try:
        page = context.new_page()
        page.goto(page_of_it.as_uri(), wait_until="commit")
        shown = page.locator(".jp-OutputArea-output")
        shown.locator("svg[role=img][aria-label^='loss']").wait_for()
        assert shown.get_by_text("Completed").first.is_visible()
        link = shown.get_by_role("link").first.get_attribute("href")
        assert link is not None
        assert run.id in link
    finally:
        context.close()
