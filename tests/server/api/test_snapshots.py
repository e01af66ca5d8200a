from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from tests.server.conftest import on_both_databases

from runyard.contracts import manifest, pack
from runyard.server.requests.uploads import _Unpacker
from runyard.store.content.objects import Objects

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.conftest import Client, Served

CONTENTS = [b"print('hello')\n", b"", bytes(range(256)) * 9000]


def packed(*contents: bytes) -> bytes:
    return b"".join(pack.header(hashlib.sha256(each).hexdigest(), len(each)) + each for each in contents)


def listing(*contents: bytes) -> manifest.Manifest:
    entries = [
        manifest.Entry(f"file{number}", digest=hashlib.sha256(each).hexdigest(), size=len(each))
        for number, each in enumerate(contents)
    ]
    return manifest.make([*entries, manifest.Entry("folder", manifest.FOLDER)])


@on_both_databases
def test_only_what_is_missing_travels(client: Client) -> None:
    wanted = listing(*CONTENTS)
    path = f"/api/snapshots/{wanted.id}"
    assert client.call("PUT", path, body=b"").code == "snapshot_not_found"
    digests = [entry.digest for entry in wanted.entries if entry.kind == manifest.FILE]
    assert client.ok("PUT", path, body=wanted.text) == {"id": wanted.id, "missing": digests}
    assert client.call("PUT", path, body=b"").code == "snapshot_not_found"
    assert client.ok("POST", "/api/objects", body=packed(*CONTENTS)) == {"stored": 3}
    assert client.ok("PUT", path, body=wanted.text) == {"id": wanted.id, "missing": []}
    assert client.ok("PUT", path, body=b"") == {"id": wanted.id, "missing": []}
    answer = client.get(path)
    assert (answer.body, answer.headers["content-type"]) == (wanted.text, "text/plain; charset=utf-8")
    other = listing(CONTENTS[0], b"new")
    assert client.ok("PUT", f"/api/snapshots/{other.id}", body=other.text)["missing"] == [
        hashlib.sha256(b"new").hexdigest()
    ]


def test_an_empty_folder_is_a_snapshot_too(client: Client) -> None:
    empty = manifest.make([])
    assert client.ok("PUT", f"/api/snapshots/{empty.id}", body=b"") == {"id": empty.id, "missing": []}
    assert client.make_run(snapshot_id=empty.id)["snapshot_id"] == empty.id
    assert client.get(f"/api/snapshots/{empty.id}").body == b""


def test_objects_beside_the_store_are_taken_for_the_user_alone(served: Served) -> None:
    client, token, content = served.client, "ab" * 16, b"laid there by hand"
    digest = hashlib.sha256(content).hexdigest()
    place = served.settings.home / "objects" / "handed" / f"{token}.{digest}"
    place.write_bytes(content)
    wanted = {"token": token, "objects": {digest: len(content)}}
    run = client.make_run()
    assert client.as_run(run).call("POST", "/api/objects/handed", wanted).code == "not_allowed"
    assert place.exists()
    assert client.ok("POST", "/api/objects/handed", wanted) == {"stored": 1}
    assert client.call("POST", "/api/objects/fetch", {"hashes": [digest]}).body == packed(content)


def test_objects_come_back_as_a_pack(client: Client) -> None:
    client.ok("POST", "/api/objects", body=packed(*CONTENTS))
    digests = [hashlib.sha256(each).hexdigest() for each in CONTENTS]
    answer = client.call("POST", "/api/objects/fetch", {"hashes": digests})
    assert answer.headers["content-length"] == str(len(answer.body))
    found = {digest: b"".join(chunks) for digest, _, chunks in pack.read(io.BytesIO(answer.body))}
    assert found == dict(zip(digests, CONTENTS, strict=True))


def test_objects_that_are_not_there_are_named(client: Client) -> None:
    for digest in ("0" * 64, "../../secret"):
        answer = client.call("POST", "/api/objects/fetch", {"hashes": [digest]})
        assert (answer.status, answer.code) == (404, "not_found")
        assert answer.json["detail"]["missing"] == [digest]


def test_a_manifest_must_be_one_and_have_the_id_of_its_text(client: Client) -> None:
    wanted = listing(b"")
    path = f"/api/snapshots/{wanted.id}"
    assert client.call("PUT", path, body=b"nonsense\n").code == "bad_manifest"
    out = b'["../out","file","%s",0,0,""]\n' % (b"0" * 64)
    assert client.call("PUT", path, body=out).code == "bad_manifest"
    answer = client.call("PUT", f"/api/snapshots/{'0' * 64}", body=wanted.text)
    assert (answer.status, answer.code) == (422, "content_mismatch")
    assert client.get(f"/api/snapshots/{'0' * 64}").code == "snapshot_not_found"


def test_a_pack_that_lies_is_refused(client: Client) -> None:
    digest = hashlib.sha256(b"right").hexdigest()
    answer = client.call("POST", "/api/objects", body=pack.header(digest, 5) + b"wrong")
    assert (answer.status, answer.code) == (422, "content_mismatch")
    for body in (b"nonsense\n", pack.header(digest, 5) + b"ri", b"x" * 300, digest.encode(), b"../x 3\nabc"):
        assert client.call("POST", "/api/objects", body=body).code == "bad_pack", body[:20]
    assert client.call("POST", "/api/objects/fetch", {"hashes": [digest]}).code == "not_found"


@pytest.mark.parametrize("step", [1, 7, 64, 65, 66, 1000])
def test_a_pack_may_be_cut_anywhere(tmp_path: Path, step: int) -> None:
    contents = [b"a", b"", b"bcd" * 50, b""]
    objects = Objects(tmp_path)
    unpacker = _Unpacker(objects)
    whole = packed(*contents)

    def cut() -> Iterator[bytes]:
        for start in range(0, len(whole), step):
            yield whole[start : start + step]

    for piece in cut():
        unpacker.feed(piece)
    unpacker.end()
    assert unpacker.count == len(contents)
    for content in contents:
        with objects.open(hashlib.sha256(content).hexdigest()) as file:
            assert file.read() == content


@pytest.mark.parametrize(
    "row",
    [
        '["a","file","%s",1e999,0,""]' % ("0" * 64),
        '["a","file","%s",-1,0,""]' % ("0" * 64),
        '["a","dir","",99999999999999999999999999,0,""]',
        '["a","link","",0,0,"x\\u0000y"]',
        '["a","link","",0,0,["x"]]',
        '["a","file",' + "[" * 5000 + "]" * 5000 + ',0,0,""]',
    ],
)
def test_an_entry_that_no_disk_could_hold_is_refused(client: Client, row: str) -> None:
    text = row.encode() + b"\n"
    assert client.call("PUT", f"/api/snapshots/{hashlib.sha256(text).hexdigest()}", body=text).code == "bad_manifest"


@pytest.mark.parametrize("damage", [b"", b"PRINT('hello')\n"], ids=["emptied", "flipped"])
def test_a_snapshot_whose_run_found_it_damaged_is_sent_again(served: Served, damage: bytes) -> None:
    """Otherwise every later submit of the same folder would fail in the same way."""
    client = served.client
    wanted = listing(*CONTENTS)
    path = f"/api/snapshots/{wanted.id}"
    client.ok("POST", "/api/objects", body=packed(*CONTENTS))
    client.ok("PUT", path, body=wanted.text)
    run = client.make_run(snapshot_id=wanted.id)
    first = hashlib.sha256(CONTENTS[0]).hexdigest()
    (served.settings.home / "objects" / first[:2] / first[2:]).write_bytes(damage)
    assert client.ok("PUT", path, body=b"")["missing"] == []
    client.end(run, "failed", error={"code": "SnapshotIncomplete", "message": "damaged"})
    again = {"workspace": "local", "experiment": "trial", "kind": "interactive", "snapshot_id": wanted.id}
    assert client.call("POST", "/api/runs?whole_snapshot=true", again).code == "snapshot_not_found"
    assert client.call("PUT", path, body=b"").code == "snapshot_not_found"
    assert client.ok("PUT", path, body=wanted.text)["missing"] == [first]
    client.ok("POST", "/api/objects", body=packed(CONTENTS[0]))
    assert client.ok("PUT", path, body=wanted.text)["missing"] == []
    client.make_run(snapshot_id=wanted.id)
    assert client.ok("PUT", path, body=b"")["missing"] == []
