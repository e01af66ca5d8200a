"""What a reader of the figures could lose: a table that lies crooked, or a README that is damaged by the new one."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from benchmarks.table import BEGIN, END, Table

from benchmarks import table

SPEED = Table(
    "Speed", ("who", "time", "× bare"), (("bare", "2 µs", "1.0×"), ("ours | theirs", "13 µs", "6.5×")), ("A note.",)
)
DAY = date(2026, 11, 5)


def test_text_aligns_names_left_and_figures_right() -> None:
    assert table.text(SPEED).splitlines() == [
        "Speed",
        "",
        "who             time  × bare",
        "-------------  -----  ------",
        "bare            2 µs    1.0×",
        "ours | theirs  13 µs    6.5×",
        "",
        "A note.",
    ]


def test_markdown_is_one_table_even_with_a_bar_in_a_cell() -> None:
    assert table.markdown(SPEED).splitlines() == [
        "**Speed**",
        "",
        "| who | time | × bare |",
        "| --- | --: | --: |",
        "| bare | 2 µs | 1.0× |",
        "| ours \\| theirs | 13 µs | 6.5× |",
        "",
        "A note.",
    ]


def test_a_row_of_the_wrong_length_is_refused() -> None:
    with pytest.raises(ValueError, match="shorter"):
        table.text(Table("Speed", ("who", "time"), (("bare",),)))


def test_filling_replaces_the_table_of_that_title_and_nothing_else(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text(f"# Yard\n\n{BEGIN}\nold words\n\n**Size**\n\nold sizes\n{END}\n\nThe end. ü\n", "utf-8")
    table.fill(readme, [SPEED], DAY, "a machine")
    table.fill(readme, [replace(SPEED, notes=("Another note.",))], DAY, "a machine")
    said = readme.read_text("utf-8")
    assert said.startswith(f"# Yard\n\n{BEGIN}\nMedians, ")
    assert "**Size**\n\nold sizes\n\n**Speed**" in said
    assert said.endswith(f"Another note.\n\nMeasured on 5 November 2026 on a machine.\n{END}\n\nThe end. ü\n")
    assert said.count("**Speed**") == 1
    assert "old words" not in said


@pytest.mark.parametrize("text", ["no markers", f"only {BEGIN}", f"{END} in the wrong order {BEGIN}"])
def test_a_readme_without_a_place_is_left_alone(tmp_path: Path, text: str) -> None:
    readme = tmp_path / "README.md"
    readme.write_text(text, "utf-8")
    with pytest.raises(table.NoPlace, match="no place for the tables"):
        table.fill(readme, [SPEED], DAY, "a machine")
    assert readme.read_text("utf-8") == text


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.0000021, "2.1 µs"),
        (0.000334, "334 µs"),
        (0.0051, "5.1 ms"),
        (0.999, "999 ms"),
        (1.0, "1.00 s"),
        (9.994, "9.99 s"),
        (72, "72 s"),
    ],
)
def test_a_duration_has_the_unit_that_suits_it(seconds: float, said: str) -> None:
    assert table.duration(seconds) == said


def test_durations_are_the_median_with_the_spread() -> None:
    assert table.durations([3e-6, 1e-6, 2e-6, 90e-6, 2.5e-6]) == "2.5 µs (1.0 µs–90 µs)"
    assert table.durations([2e-6]) == "2.0 µs"


def test_rates_are_rounded_to_what_can_be_told_apart() -> None:
    assert table.rates([324_123.0, 334_888.0, 300_001.0]) == "324,000 (300,000–335,000)"
    assert table.rates([211.4]) == "211"


def test_a_ratio_compares_medians() -> None:
    assert table.ratio([30.0, 31.0, 900.0], [10.0, 1.0, 20.0]) == "3.1×"
    assert table.ratio([1.0], []) == table.NOTHING


def test_an_overhead_is_the_difference_of_medians() -> None:
    assert table.overhead([0.7, 0.75, 9.0], [0.5, 0.25, 0.6]) == "+250 ms"
    assert table.overhead([0.5], [1.75]) == "−1.25 s"
    assert table.overhead([1.0], []) == table.NOTHING


def test_a_contender_that_was_not_measured_says_why_in_a_row_of_full_width() -> None:
    row = table.not_measured("MLflow", "ERROR: no\n  matching distribution", 4)
    assert row == ("MLflow", "not measured: ERROR: no matching distribution", table.NOTHING, table.NOTHING)
