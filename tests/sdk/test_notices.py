"""Notices reach the user through a logger, and are never an exception, whatever the filters of warnings say."""

from __future__ import annotations

import uuid
import warnings

import pytest

from runyard.sdk.notices import notice, notice_once


def test_a_notice_is_logged_as_it_is(caplog: pytest.LogCaptureFixture) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        notice("100% of it, %s included")
    assert [(each.name, each.levelname, each.message) for each in caplog.records] == [
        ("runyard", "WARNING", "100% of it, %s included")
    ]


def test_once_per_key(caplog: pytest.LogCaptureFixture) -> None:
    key = uuid.uuid4().hex
    notice_once(key, "first")
    notice_once(key, "again")
    notice_once(f"{key}-other", "other")
    assert caplog.messages == ["first", "other"]
