"""Requests for services: what could never serve is refused before anything is started, in words that help."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.broken_services import BASE, deploy, launch

from runyard.contracts.services.settings import Settings
from runyard.server.middleware.problems import Problem
from runyard.server.requests import service
from runyard.server.requests.service import RevisionRequest
from runyard.store.assets import model_content, models
from runyard.store.assets.models import Details
from runyard.store.assets.services import NewRevision, Revision
from runyard.store.content import files
from runyard.store.content.secrets import Secrets
from runyard.store.errors import NotFound
from runyard.store.runs import runs, workspaces
from runyard.store.runs.records import NewRun
from runyard.store.store import Store

if TYPE_CHECKING:
    from tests.server.conftest import Client


@pytest.mark.parametrize(
    ("body", "code", "told"),
    [
        ({"name": "No"}, "bad_name", "3 to 32"),
        ({"name": "mine"}, "invalid_service", "serves one model"),
        ({"name": "mine", "models": ["nothing:1"]}, "model_not_found", "nothing"),
        ({"name": "mine", "models": ["nothing:x"]}, "invalid_service", "name:version"),
        ({"name": "mine", "settings": {"workers": 0}}, "invalid_service", "workers"),
        ({"name": "mine", "settings": {"host": "0.0.0.0"}}, "invalid_service", "allow_unauthenticated"),
        ({"name": "mine", "launch": {"entry_script": "score.py"}}, "invalid_service", "snapshot_id"),
        ({"name": "mine", "launch": {"entry_script": "score.txt"}}, "invalid_service", ".py"),
        ({"name": "mine", "launch": {"snapshot_id": "0" * 64, "entry_script": "a.py"}}, "snapshot_not_found", "0000"),
        ({"name": "mine", "version_name": "blue"}, "invalid_service", "endpoint"),
    ],
)
def test_what_can_never_serve_is_refused_at_once(client: Client, body: Any, code: str, told: str) -> None:
    answer = client.call("POST", BASE, body)
    assert answer.code == code
    assert told in answer.json["title"] + answer.json["help"]
    assert client.ok("GET", BASE)["services"] == []


def test_a_script_that_is_not_in_the_folder_is_answered_with_those_that_are(client: Client) -> None:
    answer = deploy(client, launch={**launch(client), "entry_script": "other.py"})
    assert answer.code == "invalid_service"
    assert "score.py" in answer.json["title"]


@pytest.fixture
def store(home: Path) -> Iterator[Store]:
    """A store with models of some frameworks, each of one file, and a second version of the first."""
    store = Store.open(home)
    stored = store.objects.put([b"1"])
    with store.database.write() as connection:
        workspaces.ensure_default(connection)
        runs.create(connection, NewRun(id="r", workspace="local", experiment="exp"))
        files.put(connection, "r", "model.bin", stored)
    with store.database.write() as connection:
        for name, framework in (("a", "ScikitLearn"), ("a", "ScikitLearn"), ("b", "Custom"), ("c", "Multi")):
            content = model_content.of_run(connection, "r", "model.bin")
            models.register(connection, "local", name, content, Details(framework, "1.5.2"), "r")
    yield store
    store.close()


def asked_for(store: Store, *names: str, former: Revision | None = None, **more: Any) -> NewRevision:
    asked = RevisionRequest(models=list(names) or None, **more)
    with store.database.read() as connection:
        secrets = Secrets(store.objects.folder, "key")
        return service.revision(connection, store.objects, secrets, "local", asked, "", Settings(), former)


def test_a_model_without_code_gets_the_environment_of_its_framework(store: Store) -> None:
    made = asked_for(store, "a")
    (model,) = made.models
    assert (model["id"], model["framework"], model["root"]) == ("a:2", "ScikitLearn", "model.bin")
    assert "scikit-learn==1.5.2" in str(made.launch["environment"])
    assert (made.launch["entry_script"], made.snapshot_id) == (None, None)
    assert asked_for(store, "a:1").models[0]["version"] == 1
    with pytest.raises(NotFound):
        asked_for(store, "a:3")


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["b"], "'Custom', which is not served without code"),
        (["c"], "Triton"),
        (["a:1", "a:2"], "this one has 2"),
        (["a", "a:2"], "named twice"),
    ],
    ids=["no framework", "triton", "two models", "twice the same"],
)
def test_models_that_cannot_be_served_without_code_are_refused(store: Store, names: list[str], told: str) -> None:
    with pytest.raises(Problem, match=told):
        asked_for(store, *names)


def test_what_a_change_does_not_name_stays_as_it_was(store: Store) -> None:
    made = asked_for(store, "a:1")
    code = {**made.launch, "entry_script": "score.py", "chosen": False}
    former = Revision(1, "", list(made.models), code, Settings(), "5" * 64, "Current", None, None)  # type: ignore[arg-type]
    same = asked_for(store, former=former)
    assert (same.models, same.launch, same.snapshot_id) == (made.models, code, "5" * 64)
    other = asked_for(store, "b", former=former)
    assert ([each["id"] for each in other.models], other.launch["entry_script"]) == (["b:1"], "score.py")
