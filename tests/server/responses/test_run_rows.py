"""Rows as CSV: what a spreadsheet would reckon stays text, and numbers stay numbers."""

from __future__ import annotations

import pytest

from runyard.server.responses.run_rows import _text


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        (None, ""),
        ("plain", "plain"),
        ("=1+1", "'=1+1"),
        ("@x", "'@x"),
        ("-5", "-5"),
        ("-x", "'-x"),
        ("\t=1", "'\t=1"),
    ],
)
def test_cells(text: str | None, cell: str) -> None:
    assert _text(text) == cell
