"""Two runs of the same dataset can be told apart by what they saw."""

from __future__ import annotations

import json
from typing import Any

from runyard.contracts.data import seen


def file(path: str, **more: Any) -> dict[str, Any]:
    there = {"source": "s", "url": None, "local": "/d" + path, "content": None, "size": 1, "etag": "x", "modified": "m"}
    return {"path": path, **there, **more}


def test_a_digest_knows_files_and_not_their_order() -> None:
    files = [file("/a"), file("/b")]
    assert seen.digest(files) == seen.digest(files[::-1])
    changed: list[dict[str, Any]] = [{"size": 2}, {"etag": "y"}, {"path": "/c"}, {"etag": None}]
    assert len({seen.digest(files), *(seen.digest([files[0], {**files[1], **each}]) for each in changed)}) == 5
    assert seen.digest([file("/a"), file("/a")]) != seen.digest([])


def test_a_record_has_both_addresses_and_no_signature() -> None:
    signed = file("/a", url="https://b/a?sig=secret", content="datasets/1/content")
    made = seen.record("1", "mount", [signed, file("/b", url="http://h/b?x=1")], "d")
    assert [each["from"] for each in made["seen"]] == ["https://b/a", "http://h/b?x=1"]
    assert "secret" not in json.dumps(made)
    assert (made["files"], made["bytes"], made.get("listing")) == (2, 2, None)
    many = seen.record("1", "mount", [file(f"/{number}") for number in range(1000)], "d")
    assert (len(many["seen"]), many["listing"]) == (seen.SHOWN, "inputs/d.jsonl.gz")
    assert len("".join(seen.lines([file("/a"), file("/b")])).splitlines()) == 2


def test_the_last_attempt_counts() -> None:
    properties = {"runyard.data.d@2": '{"files": 2}', "runyard.data.d": '{"files": 1}', "runyard.data.e": "broken"}
    assert seen.of_run({**properties, "other": "1"}) == {"d": {"files": 2}}


def test_comparing() -> None:
    assert not seen.compare([file("/a")], [file("/a", modified="n")]), "the etag is what counts"
    assert seen.compare([file("/a", etag=None)], [file("/a", etag=None, modified="n")]).changed == ("/a",)
