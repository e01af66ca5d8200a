"""Runs by MLflow's protocol: making, reading, finding, ending and putting them away."""

from __future__ import annotations

import uuid
from datetime import datetime, timezone

from fastapi import APIRouter
from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from runyard.contracts import states as state_names
from runyard.scheduler import states
from runyard.scheduler.states import Fact
from runyard.server.middleware.problems import Problem
from runyard.server.mlflow import documents, forms
from runyard.server.mlflow.documents import Json
from runyard.server.mlflow.forms import Form, Pair, RunNamed, moment, pairs
from runyard.server.mlflow.here import PREFIX, At, Here
from runyard.server.requests.run import operator
from runyard.server.responses.documents import answer
from runyard.store.errors import NotFound
from runyard.store.metrics import staging
from runyard.store.mlflow import logging, run_details, run_search
from runyard.store.mlflow.run_search import PARENT, SCHEDULED, USER, Asked
from runyard.store.runs import family, labels, runs
from runyard.store.runs.experiments import Experiment
from runyard.store.runs.labels import NOTE, RUN_NAME, SUBMITTED_FROM
from runyard.store.runs.records import MLFLOW, NewRun, Run

router = APIRouter(prefix=f"{PREFIX}/runs", include_in_schema=False)

MOST_RUNS = 50_000

_OUTCOMES = {"FINISHED": "completed", "FAILED": "failed", "KILLED": "canceled"}
_STATUSES = ("RUNNING", SCHEDULED, *_OUTCOMES)
_BY_NUMBER = {1: "RUNNING", 2: SCHEDULED, 3: "FINISHED", 4: "FAILED", 5: "KILLED"}


class Create(Form):
    experiment_id: str = ""
    user_id: str | None = None
    run_name: str | None = None
    start_time: int | None = None
    run_id: str | None = None  # not MLflow's: of a run that is brought here from elsewhere, and keeps its id
    tags: list[Pair] | None = None


class Update(RunNamed):
    status: str | None = None
    end_time: int | None = None
    run_name: str | None = None


class Search(forms.Search):
    experiment_ids: list[str] | None = None
    run_view_type: str | None = None


class Tag(RunNamed):
    key: str
    value: str = ""


@router.post("/create")
def create(body: Create, here: At) -> Response:
    here.ensure_default(body.experiment_id)
    tags = pairs(body.tags)
    parent_id = tags.pop(PARENT, None)
    if parent_id is not None:
        here.must_write(parent_id)
    else:
        here.must_be_wide()
    with here.write() as connection:
        experiment = here.experiment(connection, body.experiment_id)
        made = _create(connection, here, body, experiment, tags, parent_id)
        details = run_details.get(connection, made.id)
    here.context.scheduler.submitted(made)
    return answer({"run": documents.run(details)})


def _create(
    connection: Connection, here: Here, body: Create, experiment: Experiment, tags: dict[str, str], parent: str | None
) -> Run:
    if experiment.archived_at is not None:
        title = f"The experiment {experiment.name!r} is deleted, and takes no new runs."
        raise Problem("experiment_archived", title, "Restore it, or log to another one.")
    if parent is not None and here.run(connection, parent).experiment_id != experiment.id:
        # A child belongs to its parent's experiment here: this one is beside it, and says where it comes from.
        tags[PARENT] = parent
        parent = None
    by = here.caller.run_id
    above = family.above(connection, parent) if by is not None and parent is not None else []
    run_id = body.run_id or uuid.uuid4().hex
    user = body.user_id or tags.get(USER)
    if not user:
        user = operator() if by is None else runs.get(connection, by).submitted_by
    return runs.create(
        connection,
        NewRun(
            id=run_id,
            workspace=here.workspace,
            experiment=experiment.name,
            experiment_id=experiment.id,
            status=state_names.RUNNING,
            reason="started by a client of MLflow",
            kind="interactive" if parent is None else "child",
            type=MLFLOW,
            parent_id=parent,
            display_name=body.run_name or tags.get(RUN_NAME) or f"run-{run_id[:6]}",
            description=tags.get(NOTE),
            tags={key: value for key, value in tags.items() if key not in (RUN_NAME, NOTE)},
            properties={} if by is None or by in above else {SUBMITTED_FROM: by},
            submitted_by=user,
            started_at=moment(body.start_time),
        ),
    )


@router.get("/get")
async def get(here: At, run_id: str = "", run_uuid: str = "") -> Response:
    wanted = run_id or run_uuid
    await run_in_threadpool(here.must_read, wanted)
    await here.context.pace.look(wanted)
    return answer({"run": await run_in_threadpool(_get, here, wanted)})


def _get(here: Here, run_id: str) -> Json:
    staging.settle(here.context.store.database, [run_id])
    with here.read() as connection:
        return documents.run(here.run(connection, run_id))


@router.post("/update")
def update(body: Update, here: At) -> Response:
    here.must_write(body.run)
    with here.write() as connection:
        serial = here.serial(connection, body.run)
        if body.run_name:
            labels.put_tags(connection, serial, {RUN_NAME: body.run_name})
        run = runs.get(connection, body.run)
    status = body.status and _status(body.status)
    # A job ends when its script does, and other runs as those say who lead them.
    if status and run.led and run.type == MLFLOW:
        _set_status(here, run, status, moment(body.end_time))
    with here.read() as connection:
        return answer({"run_info": documents.run_info(here.run(connection, body.run))})


def _status(given: str) -> str:
    status = _BY_NUMBER.get(int(given), given) if given.isascii() and given.isdigit() and len(given) < 3 else given
    if status.upper() not in _STATUSES:
        title = f"{given[:40]!r} is no status of a run."
        raise Problem("bad_request", title, f"Use {', '.join(_STATUSES)}.")
    return status.upper()


def _set_status(here: Here, run: Run, status: str, at: datetime | None) -> None:
    """What a client of MLflow says of the run that it leads. It may go on with one that has ended."""
    scheduler = here.context.scheduler
    if status not in _OUTCOMES:
        if run.ended and status == "RUNNING":
            scheduler.report(run.id, Fact(states.EXTENDED, reason="goes on, as its client says"))
        return
    outcome = _OUTCOMES[status]
    if run.ended:
        if documents.status_of(run.status) == status:
            return
        scheduler.report(run.id, Fact(states.EXTENDED, reason=f"ends as {status}, as its client says"))
    error = {"code": "UserError", "message": "The client has ended the run as failed."} if outcome == "failed" else None
    at = None if at is None else min(at, datetime.now(timezone.utc))
    scheduler.report(run.id, Fact(states.ENDED, outcome=outcome, error=error, at=at))
    with here.context.store.database.read() as connection:
        serial = runs.serial_of(connection, run.id)
    here.context.pending.settle(serial)


@router.post("/delete")
def delete(body: RunNamed, here: At) -> Response:
    here.must_be_user("To delete a run")
    with here.write() as connection:
        here.serial(connection, body.run)
        runs.archive(connection, [body.run], True)
    return answer({})


@router.post("/restore")
def restore(body: RunNamed, here: At) -> Response:
    here.must_be_user("To restore a run")
    with here.write() as connection:
        here.serial(connection, body.run, active=False)
        runs.archive(connection, [body.run], False)
    return answer({})


@router.post("/set-tag")
def set_tag(body: Tag, here: At) -> Response:
    here.must_write(body.run)
    with here.write() as connection:
        logging.put(connection, here.serial(connection, body.run), tags={body.key: body.value})
    return answer({})


@router.post("/delete-tag")
def delete_tag(body: Tag, here: At) -> Response:
    here.must_write(body.run)
    with here.write() as connection:
        serial = here.serial(connection, body.run)
        tags = labels.of(connection, [serial]).get((serial, labels.TAG), {})
        if body.key == NOTE:
            labels.put_tags(connection, serial, {NOTE: ""})
        elif body.key not in tags:
            raise NotFound("tag_not_found", f"The run {body.run!r} has no tag {body.key[:80]!r}.")
        labels.remove(connection, serial, labels.TAG, [body.key])
    return answer({})


@router.post("/search")
def search(body: Search, here: At) -> Response:
    here.must_be_wide()
    if not body.experiment_ids:
        return answer({"runs": []})
    most = MOST_RUNS if body.max_results is None else body.max_results
    if not 0 < most <= MOST_RUNS:
        title = f"A search gives 1 to {MOST_RUNS:,} runs at once, not {most:,}."
        raise Problem("bad_request", title, "Ask for fewer (`max_results`), and for the next page then.")
    with here.read() as connection:
        serials = _experiments(connection, here, body.experiment_ids)
    staging.settle_experiments(here.context.store.database, serials)
    asked = Asked(
        serials,
        body.filter,
        (body.run_view_type or run_search.ACTIVE_ONLY).upper(),
        body.order_by or (),
        1000 if body.max_results is None else most,
        body.page_token,
    )
    with here.read() as connection:
        found, token = run_search.find(connection, asked)
        rows = run_details.of_serials(connection, found)
    return answer(documents.page("runs", [documents.run(row) for row in rows], token))


def _experiments(connection: Connection, here: Here, ids: list[str]) -> list[int]:
    """The serials of those of the experiments that are there: MLflow passes over the others."""
    found = []
    for id in dict.fromkeys(ids):
        try:
            found.append(here.experiment(connection, id).id)
        except NotFound:
            continue
    return run_search.serials_of(connection, found)
