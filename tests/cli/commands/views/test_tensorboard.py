"""`runyard tensorboard`: an address at once, nothing left when it ends, and words where there is nothing to show."""

from __future__ import annotations

import json
import os
import signal
import urllib.request
from typing import TYPE_CHECKING

from tests.support import frameworks

from runyard.cli import errors

if TYPE_CHECKING:
    import pytest
    from tests.cli.conftest import Shell

WRITES_EVENTS = """
import os
from runyard.contracts.formats.event_files import EventFile, Scalar
os.makedirs("logs", exist_ok=True)
with open("logs/events.out.tfevents.1.host", "wb") as file:
    EventFile(file, 1.0).add([Scalar("loss", 0.5, 1, 1.0)])
"""


def test_it_shows_a_run_until_ctrl_c(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    run_id = shell.completed(WRITES_EVENTS)["id"]
    folder = frameworks.environment("tensorboard").parent
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    process = shell.start("tensorboard", run_id, "--port", "0", "--no-browser", "--json")
    try:
        assert process.stdout is not None
        said = json.loads(b"".join(iter(process.stdout.readline, b"}\n")) + b"}")
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(said["address"], timeout=20) as page:
            assert b"TensorBoard" in page.read()
        assert (said["runs"], os.path.isdir(said["folder"])) == ([run_id], True)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
        assert not os.path.exists(said["folder"])
    finally:
        process.kill()
        process.communicate()


def test_a_run_that_is_not_there_is_named(shell: Shell) -> None:
    assert "nosuchrun" in shell.refusal("tensorboard", "nosuchrun", "--no-browser", expect=errors.NOT_FOUND)["title"]
