"""The source of two runs: every file that differs is named, and the lines of texts are shown."""

from __future__ import annotations

import hashlib
import os

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
