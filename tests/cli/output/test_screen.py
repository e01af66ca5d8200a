from __future__ import annotations

import pytest

from runyard.cli.options import pairs
from runyard.cli.output import screen


def test_a_table_in_a_pipe_is_plain_aligned_and_whole(capsys: pytest.CaptureFixture[str]) -> None:
    long = "a" * 200
    screen.table(("RUN", "STATUS"), [(long, "Completed"), ("b", "Failed")], status_column=1)
    heading, first, second = capsys.readouterr().out.splitlines()
    assert first == f"{long}  Completed"
    assert second == f"b{' ' * 199}  Failed"
    assert heading.index("STATUS") == first.index("Completed") == second.index("Failed")


def test_an_empty_table_is_its_heading(capsys: pytest.CaptureFixture[str]) -> None:
    screen.table(("RUN", "STATUS"), [])
    assert capsys.readouterr().out == "RUN  STATUS\n"


def test_a_table_on_a_terminal_keeps_the_first_column_whole(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screen, "is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")
    run_id = "my_experiment_1763235000_1a2b3c4d"
    screen.table(("RUN", "STATUS", "NAME"), [(run_id, "Completed", "a long name " * 10)], status_column=1)
    assert run_id in capsys.readouterr().out


def test_a_long_last_column_comes_below_the_rows_of_a_narrow_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screen, "is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")
    why = "stopped at interval 4: 0.71, the best has 0.93"
    rows = [("7", "Canceled", "lr=0.1", why), ("8", "Completed", "[lr]", "")]
    screen.table(("CHILD", "STATUS", "PARAMETERS", "WHY"), rows, status_column=1)
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert [line.split() for line in (lines[1], lines[3])] == [["7", "Canceled", "lr=0.1"], ["8", "Completed", "[lr]"]]
    assert (lines[0].split(), lines[2], len(lines)) == (["CHILD", "STATUS", "PARAMETERS"], why, 4)
    monkeypatch.setenv("COLUMNS", "100")
    screen.table(("CHILD", "STATUS", "PARAMETERS", "WHY"), rows, status_column=1)
    assert why in capsys.readouterr().out.splitlines()[1]


def test_nothing_moves_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    with screen.spinner("waiting"), screen.progress("Copying") as progress:
        progress(0.5)
    assert capsys.readouterr().out == ""


def test_pairs_refuse_what_is_no_pair() -> None:
    assert pairs(["a=1", "b=", "c=x=y"], "--tag") == {"a": "1", "b": "", "c": "x=y"}
    for wrong in ("a", "=1", ""):
        with pytest.raises(Exception, match="KEY=VALUE"):
            pairs([wrong], "--tag")
