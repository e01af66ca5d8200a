from __future__ import annotations

from typing import TYPE_CHECKING

from runyard.cli import errors

if TYPE_CHECKING:
    from tests.cli.conftest import Shell

SCRIPT = """
from azureml.core import Run
import random
run = Run.get_context()
for step in range(20000):
    run.log("loss", random.random(), step=step)
print("printed")
"""


def test_old_logs_and_series_are_shown_set_and_dropped(fresh_shell: Shell) -> None:
    shell = fresh_shell
    run_id = shell.completed(SCRIPT)["id"]
    assert shell.json("retention")["ages"] == {"logs": "none", "series": "none"}
    assert "none" in shell.call("retention").stdout
    shell.refusal("retention", "set", expect=errors.USAGE)
    assert "retention.logs" in shell.refusal("retention", "set", "--logs", "soon", expect=errors.FAILED)["title"]
    assert "came free" in shell.call("retention", "apply").stdout
    tried = shell.json("retention", "apply", "--dry-run", "--logs", "0h", "--series", "0h")
    assert tried["due"]["logs"]["runs"] == tried["due"]["series"]["runs"] == 1
    shell.refusal("retention", "apply", "--logs", "0h", expect=errors.USAGE)
    assert "once an hour" in shell.call("retention", "set", "--logs", "0h", "--series", "0h").stdout
    assert shell.refusal("retention", "apply", expect=errors.USAGE)["code"] == "not_confirmed"
    freed = shell.json("retention", "apply", "--yes")["freed"]
    assert freed["logs"]["bytes"] > 0
    assert freed["series"]["runs"] == 1
    refused = shell.refusal("logs", run_id, expect=errors.FAILED)
    assert refused["code"] == "log_dropped"
    assert "runyard retention" in refused["help"]
    assert "20,000" in shell.call("metrics", run_id).stdout
    assert "Completed" in shell.call("show", run_id).stdout
    assert shell.json("config", "ls")["retention.logs"] == "0h"
    assert shell.json("retention", "set", "--logs", "none")["ages"]["logs"] == "none"
