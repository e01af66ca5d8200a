"""Every journal, manifest and name of the corpus is refused with words, changes nothing and reaches no other folder."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from tests.attacks.corpus import BAD_JOURNALS, BAD_MANIFESTS, BAD_NAMES
from tests.attacks.real_things import RealThings, real_things
from tests.server.conftest import Answer

from runyard.contracts import manifest, names
from runyard.contracts.journal import rank_of

pytestmark = pytest.mark.xdist_group("attacks")

LARGEST_REFUSAL = 5_000
"""Bytes. A refusal that repeats what was sent would carry an attack on to whoever reads it."""


@pytest.fixture(scope="module")
def things(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealThings]:
    with real_things(tmp_path_factory.mktemp("corpus") / "home") as it:
        yield it


def refused(answer: Answer) -> str:
    assert 400 <= answer.status < 500, answer.body[:500]
    assert len(answer.body) < LARGEST_REFUSAL
    return answer.code


@pytest.mark.parametrize("name", BAD_JOURNALS)
def test_bad_journals(name: str, things: RealThings) -> None:
    run = things.client.make_run()
    address = f"/api/runs/{run['id']}/journals/1-ab?offset=0"
    assert refused(things.client.call("POST", address, body=BAD_JOURNALS[name])) == "bad_journal"
    assert things.client.ok("GET", f"/api/runs/{run['id']}/metrics") == {"metrics": {}}
    assert things.client.ok("GET", f"/api/runs/{run['id']}")["tags"] == {}


@pytest.mark.parametrize("name", BAD_MANIFESTS)
def test_bad_manifests(name: str, things: RealThings) -> None:
    text = BAD_MANIFESTS[name]
    with pytest.raises(manifest.BadManifest):
        manifest.parse(text)
    digest = hashlib.sha256(text).hexdigest()
    refused(things.client.call("PUT", f"/api/snapshots/{digest}", body=text))
    assert things.client.get(f"/api/snapshots/{digest}").status == 404


@pytest.mark.parametrize("kind", names.RULES)
@pytest.mark.parametrize("name", BAD_NAMES)
def test_bad_names_never_pass_the_rules(name: str, kind: str) -> None:
    with pytest.raises(names.BadName) as refusal:
        names.check(kind, BAD_NAMES[name])
    assert len(str(refusal.value)) < LARGEST_REFUSAL


@pytest.mark.parametrize("name", BAD_NAMES)
def test_a_writers_name_gives_a_rank_or_none(name: str) -> None:
    assert rank_of(f"rank{BAD_NAMES[name]}") is None


def sent(name: str) -> str:
    return quote(name.encode("utf-8", "surrogatepass"), safe="")


@pytest.mark.parametrize("name", BAD_NAMES)
def test_bad_names_in_requests(name: str, things: RealThings) -> None:
    text = BAD_NAMES[name]
    client = things.client
    bodies: list[tuple[str, str, Any]] = [
        ("POST", "/api/workspaces", {"name": text}),
        ("POST", "/api/workspaces/local/compute", {"name": text}),
        ("POST", "/api/workspaces/local/environments", {"definition": {"name": text}}),
        ("POST", "/api/runs", {"workspace": "local", "experiment": text, "kind": "interactive"}),
        ("POST", "/api/runs", {"workspace": "local", "experiment": "trial", "kind": "interactive", "run_id": text}),
        ("POST", "/api/runs", {"workspace": text, "experiment": "trial", "kind": "interactive"}),
    ]
    for method, path, body in bodies:
        said = client.call(method, path, body)
        assert said.status < 500, (path, said.body[:500])
        assert said.status < 300 or len(said.body) < LARGEST_REFUSAL
    paths = ["/api/workspaces/{}", "/api/runs/{}", "/api/experiments/{}", "/api/snapshots/{}", "/runs/{}"]
    paths += ["/api/workspaces/local/compute/{}", "/api/workspaces/local/environments/{}"]
    if len(text) < 10_000:  # the line of a request has an end
        for path in paths:
            said = client.get(path.format(sent(text)))
            assert said.status < 500, (path, said.body[:500])


@pytest.mark.parametrize("name", BAD_NAMES)
def test_bad_names_of_files_stay_in_their_run(name: str, things: RealThings) -> None:
    text = BAD_NAMES[name]
    if len(text) > 10_000:
        pytest.skip("the line of a request has an end")
    before = set(_beside(things))
    run = things.client.make_run()
    for method, route in (("PUT", "files"), ("POST", "appends")):
        address = f"/api/runs/{run['id']}/{route}/{sent(text)}?offset=0"
        assert things.client.call(method, address, body=b"content").status < 500
    for file in things.client.ok("GET", f"/api/runs/{run['id']}/files")["files"]:
        assert names.check_file(file["name"]) == file["name"]
    assert set(_beside(things)) == before


def _beside(things: RealThings) -> list[Path]:
    """What lies beside the home folder, and in it."""
    return [*things.home.parent.iterdir(), *things.home.iterdir()]
