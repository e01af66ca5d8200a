"""The dict and the exceptions that scripts for SDK v1 take apart, made from the server's document."""

from __future__ import annotations

import urllib.request
from typing import cast

from tests.sdk.run.interactive_run import begin
from tests.support import hostile

from runyard.contracts.documents import RunDocument
from runyard.sdk.experiment import Experiment
from runyard.sdk.run.details import NO_ERROR, details, error_text, failed


def test_the_addresses_of_the_logs_open_without_a_token(experiment: Experiment) -> None:
    with begin(experiment) as run:
        print("hello from the block")
    with urllib.request.urlopen(run.get_details()["logFiles"]["logs/user_log.txt"], timeout=60) as answer:
        assert answer.read() == b"hello from the block\n"


def test_keys_without_a_value_are_left_out() -> None:
    document = cast(
        "RunDocument", hostile.run("r", submitted_by=None, logs=["logs/a b.txt"], web_url="http://x/r?key=k")
    )
    found = details(document)
    assert set(found) == {
        *("runId", "target", "status", "services", "properties", "inputDatasets", "outputDatasets", "logFiles"),
        "submittedBy",
    }
    assert found["logFiles"] == {"logs/a b.txt": "http://x/r/files/logs/a%20b.txt?key=k"}


def test_the_error_is_where_both_generations_of_scripts_look() -> None:
    error = {"code": "ScriptFailed", "message": "train.py failed", "help": "Look."}
    document = cast("RunDocument", hostile.run("r", error=error))
    assert details(document)["error"] == {**error, "error": {"code": "ScriptFailed", "message": "train.py failed"}}
    assert error_text(document) == "train.py failed\nLook."
    raised = failed(document)
    assert '"code": "ScriptFailed"' in raised.error_details
    assert str(raised).startswith("Run r has failed: train.py failed")


def test_a_failure_without_a_cause() -> None:
    document = cast("RunDocument", hostile.run("r"))
    assert error_text(document) == NO_ERROR
    assert NO_ERROR in str(failed(document))
