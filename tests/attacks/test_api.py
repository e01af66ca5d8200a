"""Requests that the API's own description allows, about things that exist: none is answered with an error of ours.

Most of them are accepted, so they reach the code behind the checks. `RUNYARD_TEST_CHAOS=1000` makes so many per route,
other ones each time.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.core.result import Ok
from tests.attacks.real_things import RealThings, real_things

from runyard.server.app import create_app
from runyard.server.settings import Settings

CHAOS = int(os.environ.get("RUNYARD_TEST_CHAOS") or 0)
EXAMPLES = CHAOS or 12

# One worker has the server, and counts what was accepted.
pytestmark = pytest.mark.xdist_group("attacks")


@schemathesis.serializer("application/jsonl")
def _as_it_is(context: Any, value: Any) -> Any:
    return value


def _operations() -> dict[str, Any]:
    app = create_app(Settings(home=Path("/nowhere"), token="t" * 16, secret="s"))
    found = schemathesis.openapi.from_dict(app.openapi()).get_all_operations()
    described = [each.ok() if isinstance(each, Ok) else pytest.fail(f"not described well: {each}") for each in found]
    return {each.label: each for each in described if each.label not in ENDLESS}


ENDLESS = {"GET /api/changes"}
"""A stream of what happens to all runs, as long as somebody reads it."""

OPERATIONS = _operations()

WITHOUT_SUBJECT = {
    *(f"{method} /api/runs/{{run_id}}/{what}" for method in ("GET", "PUT", "POST") for what in ("meeting", "sweep")),
    "POST /api/runs/{run_id}/sweep/extend",
    "POST /api/runs/{run_id}/preempt",
    "GET /api/runs/{run_id}/nodes/{node}/plan",
    "GET /api/workspaces/{workspace}/datastores/{name}/upload",
    "POST /api/workspaces/{workspace}/datastores/{name}/login",
    "POST /api/workspaces/{workspace}/services/{name}/rollback",
    "DELETE /api/workspaces/{workspace}/services/{name}",
}
"""About runs on nodes, sweeps, databases and services that went on: there are none here, so all of it is refused."""


@pytest.fixture(scope="module")
def things(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealThings]:
    with real_things(tmp_path_factory.mktemp("attacks") / "home") as it:
        yield it


@pytest.fixture(scope="module")
def answers() -> Counter[str]:
    """How many requests were accepted, and how many refused."""
    return Counter()


@pytest.mark.parametrize("label", OPERATIONS)
def test_a_request_is_answered_or_refused_with_words(label: str, things: RealThings, answers: Counter[str]) -> None:
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=not CHAOS,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=OPERATIONS[label].as_strategy(), strange=st.integers(0, 9))
    def ask(case: Any, strange: int) -> None:
        if strange:  # nine of ten name what is there; the others are as they were generated
            case.path_parameters = {**(case.path_parameters or {}), **things.path(label)}
            case.query = {**(case.query or {}), **things.query(label)}
            case.query = {name: value for name, value in case.query.items() if value is not None}
        case.body = things.body(label, case.body)
        case.headers = {"Authorization": f"Bearer {things.client.token}"}
        answer = case.call(base_url=things.client.url, timeout=60)
        if label not in WITHOUT_SUBJECT:
            answers["accepted" if answer.status_code < 400 else "refused"] += 1
        assert answer.status_code < 500, answer.content
        if answer.status_code >= 400 and answer.headers["content-type"] == ["text/html; charset=utf-8"]:
            assert label.startswith("GET /runs/"), "only what people open is refused with a page"
            assert b"<h1>" in answer.content
        elif answer.status_code >= 400:
            assert answer.headers["content-type"] == ["application/problem+json"], answer.content
            assert answer.json()["title"]

    ask()


def test_most_of_them_were_accepted(answers: Counter[str]) -> None:
    """Else they show only that the checks work. Runs after the others: tests of a group keep their order."""
    if answers.total() < len(OPERATIONS):
        pytest.skip("the requests of the other tests are counted, and those were not run")
    assert answers["accepted"] > 2 * answers["refused"], answers
