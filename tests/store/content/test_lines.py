"""Files by lines: a log of any size and form is shown where its reader wants it, and costs no memory."""

from __future__ import annotations

import io
import random

import pytest

from runyard.store.content import lines
from runyard.store.content.lines import BLOCK, LONGEST, Counts, LineCounts


def counts_of(content: bytes) -> Counts:
    return lines.counted(io.BytesIO(content), len(content), Counts())


@pytest.mark.parametrize("seed", range(6))
def test_every_line_is_found_where_it_is(seed: int) -> None:
    """Beside what Python's own reading finds, over the borders of blocks and with lines longer than one."""
    chance = random.Random(seed)
    made = []
    for _ in range(chance.choice([3, 300, 20_000])):
        made.append(bytes(chance.choices(b"abc \xc3\xa4\r", k=chance.choice([0, 1, 30, 200]))))
    made.insert(len(made) // 2, b"x" * (BLOCK + chance.randrange(-2, 3)))
    content = b"\n".join(made) + (b"\n" if seed % 2 else b"")
    expected = content.split(b"\n")
    if expected[-1] == b"":
        expected.pop()
    counts = counts_of(content)
    assert counts.lines == len(expected)
    for first in {0, 1, len(expected) // 2, len(expected) // 2 + 1, len(expected) - 1}:
        rows = lines.read(io.BytesIO(content), counts, first, 7)
        shown = [row.text for row in rows]
        assert (
            shown == [each[:LONGEST].decode("utf-8", "replace") for each in expected[first : first + 7]][: len(shown)]
        )
        assert shown
    assert lines.read(io.BytesIO(content), counts, len(expected), 7) == []
    assert lines.read(io.BytesIO(b""), counts_of(b""), 0, 7) == []


def test_a_log_that_is_one_long_line_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    content = b"y" * (5 * BLOCK) + b"\nend"
    (first, second) = lines.read(io.BytesIO(content), counts_of(content), 0, 10)
    assert (len(first.text), first.more) == (LONGEST, 5 * BLOCK + 1 - LONGEST)
    assert (second.text, second.more) == ("end", 0)


def test_what_was_counted_once_is_not_counted_again_while_a_file_grows() -> None:
    class Seen(io.BytesIO):
        read_bytes = 0

        def read(self, size: int | None = -1) -> bytes:
            found = super().read(size)
            Seen.read_bytes += len(found)
            return found

    kept = LineCounts()
    content = b"line\n" * BLOCK
    assert kept.of("a", Seen(content), len(content)).lines == BLOCK
    Seen.read_bytes = 0
    content += b"more\nopen"
    counts = kept.of("a", Seen(content), len(content))
    assert (counts.lines, counts.is_open) == (BLOCK + 2, True)
    assert Seen.read_bytes <= BLOCK + 9
    assert kept.of("a", Seen(b"new\n"), 4).lines == 1, "a file that was emptied begins anew"


@pytest.mark.parametrize("at", [0, 10, BLOCK - 3, BLOCK, 2 * BLOCK - 1])
def test_a_text_is_found_wherever_it_lies(at: int) -> None:
    filler = (b"x" * 99 + b"\n") * (3 * BLOCK // 100)
    content = filler[:at] + b"Needle" + filler[at:]
    found, more = lines.find(io.BytesIO(content), len(content), "nEEDLE", 10)
    assert ([hit.line for hit in found], more) == ([content[:at].count(b"\n")], False)
    assert "Needle" in found[0].text


def test_each_line_is_found_once_and_no_more_than_asked_for() -> None:
    content = b"a a a\nb\n" * 100
    found, more = lines.find(io.BytesIO(content), len(content), "a", 5)
    assert ([hit.line for hit in found], more) == ([0, 2, 4, 6, 8], True)
    found, more = lines.find(io.BytesIO(content), len(content), "a", 100)
    assert (len(found), more) == (100, False)
    assert lines.find(io.BytesIO(b"a" * 3 * BLOCK), 3 * BLOCK, "aa", 10)[0] == [lines.Hit(0, "a" * 102)]
