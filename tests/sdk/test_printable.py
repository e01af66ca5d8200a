"""What a script wrote must not reach through to the terminal of whoever looks at it."""

from __future__ import annotations

import pytest

from runyard.sdk.printable import last_lines, printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]52;c;cm0gLXJm\x07x", "x"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPdevice\x1b\\x\x1bc", "x"),
        ("\x9b2Jx\x00\x7f", "2Jx"),
        ("tab\tand\nline", "tab\tand\nline"),
        ("right \u202eto left", "right to left"),
        ("ends with \x1b", "ends with "),
    ],
)
def test_nothing_but_text_is_left(text: str, shown: str) -> None:
    assert printable(text) == shown


@pytest.mark.parametrize("piece", ["\x1b[", "\x1b]", "\x1b[0", "0;", "\x1b", "\x1b]a", "\r", "\n"])
def test_long_texts_are_read_once(piece: str) -> None:
    assert "\x1b" not in printable(piece * 200_000)
    assert "\x1b" not in printable("\x1b[" + piece * 200_000)
    assert len(last_lines(piece * 200_000, 5, 80)) <= 5


def test_the_end_of_a_log() -> None:
    assert last_lines("", 5, 80) == []
    assert last_lines("a\r\nb\r\n", 5, 80) == ["a", "b"]
    assert last_lines("1\n2\n3\n" + "x" * 100, 2, 10) == ["3", "x" * 10 + "…"]
