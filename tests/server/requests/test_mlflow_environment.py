"""A model of MLflow that is served without code gets the environment that its own files name, each version its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from runyard.contracts.services.settings import Settings
from runyard.server.middleware.problems import Problem
from runyard.server.requests import service
from runyard.server.requests.service import RevisionRequest
from runyard.store.assets import model_content, models
from runyard.store.assets.models import Details
from runyard.store.assets.services import NewRevision, Revision
from runyard.store.content import files
from runyard.store.content.secrets import Secrets
from runyard.store.runs import runs, workspaces
from runyard.store.runs.records import NewRun
from runyard.store.store import Store


@pytest.fixture
def store(home: Path) -> Iterator[Store]:
    store = Store.open(home)
    with store.database.write() as connection:
        workspaces.ensure_default(connection)
        runs.create(connection, NewRun(id="r", workspace="local", experiment="exp"))
    yield store
    store.close()


def asked_for(store: Store, name: str, former: Revision | None = None) -> NewRevision:
    with store.database.read() as connection:
        secrets = Secrets(store.objects.folder, "key")
        asked = RevisionRequest(models=[name])
        return service.revision(connection, store.objects, secrets, "local", asked, "", Settings(), former)


def logged(store: Store, requirements: str | None) -> None:
    """Register one more version of a model as MLflow's client writes it."""
    with store.database.write() as connection:
        for name, text in (("MLmodel", "flavors: {}"), ("requirements.txt", requirements)):
            if text is not None:
                files.put(connection, "r", f"outputs/lin/{name}", store.objects.put([text.encode()]))
    with store.database.write() as connection:
        content = model_content.of_run(connection, "r", "outputs/lin")
        models.register(connection, "local", "lin", content, Details("MLflow"), "r")


def test_a_model_of_mlflow_gets_the_environment_that_its_files_name(store: Store) -> None:
    logged(store, None)
    with pytest.raises(Problem, match=r"lin:1 has no requirements.txt"):
        asked_for(store, "lin")
    logged(store, "--extra-index-url https://i.example\n# made by MLflow\nmlflow==3.17.0  # itself\n\nskops==0.1\n")
    made = asked_for(store, "lin")
    environment = made.launch["environment"]
    assert (environment["name"], made.launch["chosen"]) == ("mlflow-lin", True)
    assert {"mlflow==3.17.0", "skops==0.1"} <= set(environment["pip"])
    assert "--extra-index-url https://i.example" in str(environment)
    logged(store, "mlflow==3.18.0\n")
    former = Revision(1, "", list(made.models), made.launch, Settings(), None, "Current", None, None)  # type: ignore[arg-type]
    again = asked_for(store, "lin", former=former).launch["environment"]
    assert [line for line in again["pip"] if "mlflow" in line] == ["mlflow==3.18.0"], "of the version that is served"
    for more in ("-c constraints.txt\nmlflow\n", "--pre\n"):
        logged(store, more)
        with pytest.raises(Problem, match="give an environment"):
            asked_for(store, "lin")
