"""If these fail, something is deleted that nobody agreed to."""

from __future__ import annotations

import io
import sys

import pytest

from runyard.cli import errors
from runyard.cli.confirm import agreed


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_yes_asks_nobody(capsys: pytest.CaptureFixture[str]) -> None:
    agreed("Delete it?", True, "Nothing was deleted.")
    assert capsys.readouterr() == ("", "")


def test_without_a_terminal_nothing_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    with pytest.raises(errors.CommandError) as refused:
        agreed("Delete it?", False, "Nothing was deleted.")
    assert (refused.value.exit_code, refused.value.code) == (errors.USAGE, "not_confirmed")
    assert "--yes" in refused.value.help


@pytest.mark.parametrize(("answer", "is_agreed"), [("y\n", True), ("n\n", False), ("\n", False)])
def test_a_person_decides(monkeypatch: pytest.MonkeyPatch, answer: str, is_agreed: bool) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(answer))
    if is_agreed:
        agreed("Delete it?", False, "Nothing was deleted.")
        return
    with pytest.raises(errors.CommandError, match="Nothing was deleted") as refused:
        agreed("Delete it?", False, "Nothing was deleted.")
    assert refused.value.exit_code == errors.FAILED
