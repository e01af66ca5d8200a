"""A snapshot's manifest: equal folders have equal ids, and no manifest leads out of the folder it is laid out in."""

from __future__ import annotations

import json

import pytest

from runyard.contracts import manifest
from runyard.contracts.manifest import FOLDER, LINK, BadManifest, Entry

DIGEST = "0123456789abcdef" * 4
ENTRIES = [
    Entry("train.py", digest=DIGEST, size=3, executable=True),
    Entry("deep/ü\udc80.txt", digest=DIGEST, size=4),
    Entry("empty", FOLDER),
    Entry("link", LINK, target="../elsewhere"),
]


def row(path: object = "a", kind: object = "file", digest: object = DIGEST, size: object = 1, *more: object) -> bytes:
    executable, target = more or (0, "")
    return json.dumps([path, kind, digest, size, executable, target]).encode() + b"\n"


def test_a_manifest_survives_its_text() -> None:
    made = manifest.make(ENTRIES)
    read = manifest.parse(made.text)
    assert read == made
    assert read.id == made.id
    assert read.size == 7


def test_the_order_in_which_files_were_found_does_not_matter() -> None:
    assert manifest.make(reversed(ENTRIES)).id == manifest.make(ENTRIES).id
    assert manifest.make(ENTRIES[1:]).id != manifest.make(ENTRIES).id


def test_an_empty_folder_has_a_manifest() -> None:
    nothing = manifest.make([])
    assert nothing.text == b""
    assert manifest.parse(b"") == nothing


def test_the_text_is_what_every_version_hashes() -> None:
    made = manifest.make([Entry("b", FOLDER), Entry("ü", digest=DIGEST, size=1)])
    assert made.text == b'["b","dir","",0,0,""]\n["\\u00fc","file","%s",1,0,""]\n' % DIGEST.encode()


@pytest.mark.parametrize(
    "text",
    [
        *(b"{}", b"null\n", b"[" * 5_000, b"\xff\n", b'["a"]\n', b"not json\n"),
        *(row(path) for path in ("../a", "/a", "a/../../b", "a//b", "./a", "", "a\0b", 3, None, "a" * 5_000)),
        row("a" * 255 + "/" + "b" * 255, size=-1),
        row("/".join(["a" * 200] * 21)),
        *(row(size=size) for size in (-1, "1", True, 1 << 50, 1.5)),
        *(row(digest=digest) for digest in ("", DIGEST.upper(), DIGEST[1:], 7, None)),
        row(kind="socket"),
        row("a", FOLDER),
        row("a", LINK, "", 1, 0, "b"),
        row("a", LINK, "", 0, 0, "b\0c"),
        row("a", LINK, "", 0, 0, None),
    ],
    ids=lambda text: repr(text[:40]),
)
def test_a_bad_manifest_is_refused(text: bytes) -> None:
    with pytest.raises(BadManifest, match="manifest"):
        manifest.parse(row("good") + text)
