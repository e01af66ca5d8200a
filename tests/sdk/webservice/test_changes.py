"""What an update asks for: tags replace, properties add, and what has no effect is named."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from tests.sdk.webservice import told

from runyard.sdk.exceptions import WebserviceException
from runyard.sdk.webservice.changes import changes_of, check_any, notice_unused
from runyard.sdk.webservice.webservice import Webservice
from runyard.sdk.workspace.workspace import Workspace


def test_labels_and_settings(workspace: Workspace) -> None:
    service = Webservice._told(workspace, told.service())
    models: Any = ["bird:3"]
    asked = changes_of(
        service, settings={"cpu": 2}, tags={"new": "1"}, properties={"b": "2"}, description="other", models=models
    )
    assert asked == {
        "settings": {"cpu": 2},
        "tags": {"new": "1"},
        "properties": {"made": "here", "b": "2"},
        "description": "other",
        "models": ["bird:3"],
    }
    assert changes_of(service, settings={}) == {}


def test_what_is_refused(workspace: Workspace) -> None:
    service = Webservice._told(workspace, told.service())
    with pytest.raises(WebserviceException, match="from an image"):
        changes_of(service, settings={}, image=object())
    with pytest.raises(WebserviceException, match="models is a list"):
        changes_of(service, settings={}, models="bird:3")  # type: ignore[arg-type]
    with pytest.raises(WebserviceException, match="without anything"):
        check_any({"tags": None})


def test_what_has_no_effect_is_named(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "runyard"):
        notice_unused("birds", {"ssl_enabled": True, "namespace": None})
    assert "'birds' keeps ssl_enabled aside" in caplog.text
    assert "namespace" not in caplog.text
