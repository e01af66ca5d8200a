"""Waiting for a deployment: the form of what is shown, and the words for what went wrong."""

from __future__ import annotations

import re
from datetime import datetime, timezone

import pytest
from tests.sdk.webservice import told

from runyard.sdk.exceptions import WebserviceException
from runyard.sdk.webservice import waiting
from runyard.sdk.webservice.waiting import failure, local_time, moment_of, operation, watched, words_of
from runyard.sdk.workspace.workspace import Workspace


def test_times_are_local_with_their_offset() -> None:
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[+-]\d\d:\d\d", local_time("2026-11-17T10:00:00.250Z"))
    assert moment_of("2026-11-17T10:00:00+00:00") == datetime(2026, 11, 17, 10, tzinfo=timezone.utc)
    assert local_time("") == ""


def test_each_step_is_shown_once_with_dots_in_between(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "DOT_EVERY", 0.0)
    shown: list[str] = []
    steps = waiting._Steps(lambda text, end: shown.append(text + end))
    first = {"time": "2026-11-17T10:00:00Z", "text": "one"}
    second = {"time": "2026-11-17T10:00:01Z", "text": "two"}
    steps.show([first])
    steps.show([first])
    steps.show([first])
    steps.show([first, second])
    steps.end()
    text = "".join(shown)
    assert re.fullmatch(r"\S+ \S+ one\n\.\.\n\S+ \S+ two\n", text), text


def test_a_failure_names_the_operation_the_cause_and_where_to_look() -> None:
    error = {"message": "No module named 'sklearn'", "file": "score.py", "line": 3, "help": "Add scikit-learn."}
    document = told.service(
        state="Failed", operation={"id": "op7", "state": "Failed", "steps": [], "error": error}, error=error
    )
    said = failure(document).message
    assert "op7 ended as Failed" in said
    assert "No module named 'sklearn' (score.py, line 3). Add scikit-learn." in said
    assert "service.get_logs()" in said


@pytest.mark.parametrize(
    ("error", "words"),
    [(None, "Nothing was said about the cause."), ("it died", "it died."), ({"title": "It died."}, "It died.")],
)
def test_errors_in_words(error: object, words: str) -> None:
    assert words_of(error) == words


def test_a_service_of_which_no_operation_is_told_is_done() -> None:
    assert operation({"name": "x"})["state"] == "Succeeded"


def test_waiting_for_what_is_not_there(workspace: Workspace) -> None:
    with pytest.raises(WebserviceException, match="WebserviceNotFound"):
        watched(workspace, "nothing-here", 1, None)
