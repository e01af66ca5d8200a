from __future__ import annotations

from typer.main import get_command

from runyard.cli.main import app
from runyard.cli.suggestions import ELSEWHERE, Suggesting


def test_every_suggestion_is_a_command_and_no_command_is_hidden_by_one() -> None:
    top = get_command(app)
    assert isinstance(top, Suggesting)
    groups = [top, *(each for each in top.commands.values() if isinstance(each, Suggesting))]
    known = {name for group in groups for name in group.commands}
    assert set(ELSEWHERE.values()) <= known
    assert not set(top.commands) & set(ELSEWHERE)
