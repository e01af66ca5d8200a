"""The source of two runs: every file that differs is named, and the lines of texts are shown."""

from __future__ import annotations

import difflib
import hashlib
import os
import random

import pytest

from runyard.contracts import manifest
from runyard.contracts.manifest import Entry, Manifest
from runyard.server.responses import source_diff


class Files:
    """Contents by their hash, and manifests of them."""

    def __init__(self) -> None:
        self.contents: dict[str, bytes] = {}

    def manifest(self, **files: bytes) -> Manifest:
        entries = []
        for path, content in files.items():
            digest = hashlib.sha256(content).hexdigest()
            self.contents[digest] = content
            entries.append(Entry(path, digest=digest, size=len(content)))
        return manifest.make(entries)


def test_lines_of_texts_and_notes_of_the_rest() -> None:
    files = Files()
    before = files.manifest(same=b"x", text=b"one\ntwo\n", gone=b"a\n", binary=b"\0\1", large=b"")
    large = b"x\n" * source_diff.LARGEST
    after = files.manifest(same=b"x", text=b"one\n2\n", new=b"b\n", binary=b"\0\2", large=large)
    found = {each["path"]: each for each in source_diff.changes(before, after, files.contents.__getitem__)}
    assert {path: each["change"] for path, each in found.items()} == {
        "text": "changed",
        "gone": "removed",
        "new": "added",
        "binary": "changed",
        "large": "changed",
    }
    assert "-two\n+2\n" in found["text"]["diff"]
    assert "+b" in found["new"]["diff"]
    assert "-a" in found["gone"]["diff"]
    assert (found["binary"]["diff"], found["binary"]["note"]) == (None, "no text")
    assert "KiB" in found["large"]["note"]


def test_bits_and_links() -> None:
    digest = hashlib.sha256(b"").hexdigest()
    before = manifest.make([Entry("run", digest=digest), Entry("link", "link", target="a")])
    after = manifest.make([Entry("run", digest=digest, executable=True), Entry("link", "link", target="b")])
    notes = {each["path"]: each["note"] for each in source_diff.changes(before, after, lambda digest: b"")}
    assert notes == {"run": "may be run", "link": "link a → link b"}


def test_a_text_of_too_many_lines_is_not_compared() -> None:
    files = Files()
    before = files.manifest(text=os.urandom(20_000).hex("\n").encode())
    after = files.manifest(text=b"")
    (found,) = source_diff.changes(before, after, files.contents.__getitem__)
    assert "lines" in found["note"]


def test_diffs_are_those_of_difflib() -> None:
    files, chance = Files(), random.Random(1)
    for _ in range(50):
        texts = ["".join(f"{chance.randrange(9)}\n" for _ in range(chance.randrange(1, 40))) for _ in range(2)]
        if texts[0] == texts[1]:
            continue
        one, other = (files.manifest(text=text.encode()) for text in texts)
        (found,) = source_diff.changes(one, other, files.contents.__getitem__)
        old, new = (text.splitlines() for text in texts)
        assert found["diff"].splitlines() == list(difflib.unified_diff(old, new, "a/text", "b/text", lineterm=""))


def test_texts_without_other_lines_say_what_differs() -> None:
    files = Files()
    before = files.manifest(text=b"a\r\nb\n", small=b"")
    (small, text) = source_diff.changes(before, files.manifest(text=b"a\nb\n"), files.contents.__getitem__)
    assert (small["change"], small["note"]) == ("removed", "empty")
    assert (text["diff"], text["note"]) == (None, "only the ends of lines differ")


def test_lines_that_come_again_and_again_do_not_keep_the_server_busy() -> None:
    """A run's token may ask for this, of two runs whose source it has sent itself."""
    files, most = Files(), 79
    unlike = source_diff.MOST_LINES // most
    lines = [[str(number * step % unlike) for number in range(unlike * most)] for step in (1, 7)]
    before, after = (files.manifest(text="\n".join(each).encode(), zebra=each[1].encode()) for each in lines)
    found = list(source_diff.changes(before, after, files.contents.__getitem__, seconds=0.5))
    assert [(each["path"], each["note"]) for each in found] == [
        ("text", source_diff.NOT_COMPARED),
        ("zebra", source_diff.NOT_COMPARED),
    ]


def test_much_changed_text_is_not_gathered_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_diff, "MOST_TEXT", 10)
    files = Files()
    before, after = files.manifest(a=b"old", b=b"old"), files.manifest(a=b"new", b=b"new")
    (first, second) = source_diff.changes(before, after, files.contents.__getitem__)
    assert first["diff"]
    assert (second["diff"], second["note"]) == (None, source_diff.NOT_COMPARED)
