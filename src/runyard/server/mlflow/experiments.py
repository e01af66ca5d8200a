"""Experiments by MLflow's protocol. A deleted experiment is an archived one."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from runyard.contracts.services.states import EXPERIMENT as OF_SERVICES
from runyard.server.middleware.problems import Problem
from runyard.server.mlflow import documents, forms
from runyard.server.mlflow.forms import Form, Pair, Sought, pairs
from runyard.server.mlflow.here import PREFIX, At, Here, no_experiment
from runyard.server.responses.documents import answer
from runyard.store.errors import NotFound, Refused
from runyard.store.mlflow import matching
from runyard.store.mlflow.language import Attributes
from runyard.store.mlflow.run_search import ACTIVE_ONLY, DEFAULT, DEFAULT_ID, DELETED_ONLY, SCHEME, milliseconds
from runyard.store.runs import experiments
from runyard.store.runs.experiments import Experiment

router = APIRouter(prefix=f"{PREFIX}/experiments", include_in_schema=False)

ATTRIBUTES = Attributes(
    {name: name for name in ("name", "creation_time", "last_update_time", "experiment_id")},
    frozenset({"creation_time", "last_update_time"}),
)
_VIEWS = {ACTIVE_ONLY: experiments.ACTIVE_ONLY, DELETED_ONLY: experiments.ARCHIVED_ONLY}


class Create(Form):
    name: str
    artifact_location: str | None = None
    tags: list[Pair] | None = None


class Search(forms.Search):
    view_type: str | None = None


class Named(Form):
    experiment_id: str


class Update(Named):
    new_name: str | None = None


class Tag(Named):
    key: str
    value: str = ""


@router.post("/create")
def create(body: Create, here: At) -> Response:
    here.must_be_wide()
    if body.artifact_location and not body.artifact_location.startswith(SCHEME):
        raise Problem(
            "bad_request",
            f"The artifacts of an experiment cannot be stored in {body.artifact_location[:200]!r}: the server keeps "
            "them itself.",
            "Leave `artifact_location` out.",
        )
    if body.name == OF_SERVICES:
        raise Problem("bad_name", f"The name {body.name!r} is taken by the runs of services.", "Choose another one.")
    with here.write() as connection:
        there = experiments.find(connection, here.workspace, experiments.ALL, body.name)
        if there:
            state = "is deleted, and can be restored" if there[0].archived_at else "is there already"
            raise Problem("experiment_exists", f"The experiment {body.name!r} {state}.", "Choose another name.")
        made = experiments.ensure(connection, here.workspace, body.name, any_name=True, tags=pairs(body.tags))
    return answer({"experiment_id": documents.public_id(made.id, made.name)})


@router.get("/get")
def get(here: At, experiment_id: str = "") -> Response:
    here.ensure_default(experiment_id)
    with here.read() as connection:
        return answer({"experiment": documents.experiment(here.experiment(connection, experiment_id))})


@router.get("/get-by-name")
def get_by_name(here: At, experiment_name: str = "") -> Response:
    here.ensure_default(DEFAULT_ID if experiment_name == DEFAULT else "")
    with here.read() as connection:
        found = experiments.find(connection, here.workspace, experiments.ALL, experiment_name)
    if not found:
        raise NotFound(
            "experiment_not_found",
            f"There is no experiment {experiment_name[:200]!r} in the workspace {here.workspace!r}.",
            "`mlflow.set_experiment(name)` makes one.",
        )
    return answer({"experiment": documents.experiment(found[0])})


@router.post("/search")
def search(body: Search, here: At) -> Response:
    return _search(here, body)


@router.get("/search")
def search_by_address(here: At, sought: Sought, view_type: str | None = None) -> Response:
    return _search(here, Search(view_type=view_type, **sought.model_dump()))


def _search(here: Here, body: Search) -> Response:
    here.must_be_wide()
    view = (body.view_type or ACTIVE_ONLY).upper()
    if view != DELETED_ONLY:
        here.ensure_default(DEFAULT_ID)
    with here.read() as connection:
        rows = experiments.find(connection, here.workspace, _VIEWS.get(view, experiments.ALL))
    wanted = matching.parse(body.filter, body.order_by, ATTRIBUTES)
    found, token = matching.page(rows, wanted, _values, body.max_results or 1000, body.page_token)
    return answer(documents.page("experiments", [documents.experiment(row) for row in found], token))


def _values(row: Experiment) -> matching.Values:
    return matching.Values(
        {
            "name": row.name,
            "experiment_id": documents.public_id(row.id, row.name),
            "creation_time": milliseconds(row.created_at),
            "last_update_time": milliseconds(row.archived_at or row.created_at),
        },
        tags={key: value or "" for key, value in row.tags.items()},
    )


@router.post("/update")
def update(body: Update, here: At) -> Response:
    here.must_be_user("To rename an experiment")
    with here.write() as connection:
        found = _changeable(here.experiment(connection, body.experiment_id), body.experiment_id)
        if found.archived_at is not None:
            raise Refused("bad_request", f"The experiment {found.name!r} is deleted.", "Restore it first.")
        experiments.update(connection, found.id, name=body.new_name or None, any_name=True)
    return answer({})


@router.post("/delete")
def delete(body: Named, here: At) -> Response:
    here.must_be_user("To delete an experiment")
    with here.write() as connection:
        found = _changeable(here.experiment(connection, body.experiment_id), body.experiment_id)
        if found.archived_at is not None:
            raise no_experiment(body.experiment_id)
        experiments.update(connection, found.id, archived=True)
    return answer({})


@router.post("/restore")
def restore(body: Named, here: At) -> Response:
    here.must_be_user("To restore an experiment")
    with here.write() as connection:
        found = here.experiment(connection, body.experiment_id)
        if found.archived_at is None:
            raise no_experiment(body.experiment_id)
        experiments.update(connection, found.id, archived=False)
    return answer({})


@router.post("/set-experiment-tag")
def set_tag(body: Tag, here: At) -> Response:
    here.must_be_user("To tag an experiment")
    here.ensure_default(body.experiment_id)
    with here.write() as connection:
        found = here.experiment(connection, body.experiment_id)
        experiments.update(connection, found.id, set_tags={body.key: body.value})
    return answer({})


@router.post("/delete-experiment-tag")
def delete_tag(body: Tag, here: At) -> Response:
    here.must_be_user("To change the tags of an experiment")
    with here.write() as connection:
        found = here.experiment(connection, body.experiment_id)
        if body.key not in found.tags:
            raise NotFound("tag_not_found", f"The experiment {found.name!r} has no tag {body.key[:80]!r}.")
        experiments.update(connection, found.id, remove_tags=[body.key])
    return answer({})


def _changeable(found: Experiment, id: str) -> Experiment:
    if id == DEFAULT_ID or found.name == DEFAULT:
        title = "The experiment 'Default' can neither be renamed nor deleted: clients that name none use it."
        raise Problem("bad_request", title)
    return found
