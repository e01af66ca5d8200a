"""A group that is called alone helps, instead of refusing."""

from __future__ import annotations

from typer.testing import CliRunner

from runyard.cli.groups import group


def test_a_group_alone_shows_its_commands() -> None:
    app = group("fruit", "What grows.")

    @app.command()
    def apple() -> None:
        """A fruit."""

    shown = CliRunner().invoke(app, [])
    assert shown.exit_code == 0
    assert "apple" in shown.output
    assert CliRunner().invoke(app, ["apple"]).exit_code == 0
