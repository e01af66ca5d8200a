"""A progress bar is for people who look on: nothing is written where there is no terminal, or nothing to wait for."""

from __future__ import annotations

import io
import sys

import pytest

from runyard.sdk.progress import WORTH_SHOWING, progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO | None, total: int) -> str:
    monkeypatch.setattr(sys, "stderr", stream)
    with progress("Uploading", total) as moved:
        moved(total // 2)
        moved(total - total // 2)
    return stream.getvalue() if stream is not None else ""


def test_a_long_transfer_on_a_terminal_has_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    assert "Uploading" in shown(monkeypatch, Terminal(), WORTH_SHOWING)


@pytest.mark.parametrize(
    ("stream", "total"), [(Terminal(), WORTH_SHOWING - 1), (io.StringIO(), WORTH_SHOWING), (None, WORTH_SHOWING)]
)
def test_no_bar(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO | None, total: int) -> None:
    assert shown(monkeypatch, stream, total) == ""


def test_what_fails_meanwhile_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    with pytest.raises(ConnectionError), progress("Uploading", WORTH_SHOWING):
        raise ConnectionError
