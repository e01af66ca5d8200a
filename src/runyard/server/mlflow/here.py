"""What every request of MLflow's protocol works with: the workspace in its address, and what its sender may reach."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from sqlalchemy import Connection

from runyard.server.context import ServerContext, context_of
from runyard.server.middleware import reach
from runyard.server.middleware.auth import Caller, caller, not_allowed
from runyard.store.errors import Conflict, NotFound, Refused, run_not_found
from runyard.store.mlflow import run_details
from runyard.store.mlflow.run_details import RunDetails
from runyard.store.mlflow.run_search import DEFAULT, DEFAULT_ID
from runyard.store.runs import experiments, runs, workspaces
from runyard.store.runs.experiments import Experiment
from runyard.store.runs.records import Run

PREFIX = "/mlflow/{workspace}/api/2.0/mlflow"


@dataclass(frozen=True)
class Here:
    context: ServerContext
    caller: Caller
    workspace: str

    @contextmanager
    def read(self) -> Iterator[Connection]:
        with self.context.store.database.read() as connection:
            self._check(connection)
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        with self.context.store.database.write() as connection:
            self._check(connection)
            yield connection

    def must_be_user(self, what: str) -> None:
        if self.caller.run_id is not None:
            raise not_allowed(self.caller.run_id, f"{what} needs the user's token.")

    def must_be_wide(self) -> None:
        """Refuse a run that may not look beyond itself."""
        reach.must_be_within(self.context, self.caller, self.workspace)

    def must_read(self, run_id: str) -> None:
        reach.must_read(self.context, self.caller, run_id)

    def must_write(self, run_id: str) -> None:
        reach.must_write(self.context, self.caller, run_id)

    def run(self, connection: Connection, run_id: str) -> RunDetails:
        """A run of this workspace, with all that MLflow shows of it."""
        found = run_details.get(connection, _named(run_id))
        if found.workspace != self.workspace:
            raise run_not_found(run_id)
        return found

    def serial(self, connection: Connection, run_id: str, active: bool = True) -> int:
        """The serial of a run of this workspace; with `active`, one that was deleted is refused, as MLflow does."""
        found = runs.get(connection, _named(run_id))
        if found.workspace != self.workspace:
            raise run_not_found(run_id)
        if active:
            must_be_active(found)
        return runs.serial_of(connection, run_id)

    def experiment(self, connection: Connection, id: str) -> Experiment:
        if not id:
            raise Refused("bad_request", "The request names no experiment.", "Send `experiment_id`.")
        if id == DEFAULT_ID:
            found = experiments.find(connection, self.workspace, experiments.ALL, DEFAULT)
            if found:
                return found[0]
            raise no_experiment(id)
        experiment = experiments.look_up(connection, id)
        if experiment is None or experiment.workspace != self.workspace:
            raise no_experiment(id)
        return experiment

    def ensure_default(self, id: str) -> None:
        """Make the experiment that MLflow's clients take for granted, where it is the one that is asked for."""
        if id != DEFAULT_ID:
            return
        with self.read() as connection:
            there = experiments.find(connection, self.workspace, experiments.ALL, DEFAULT)
        if not there:
            with self.write() as connection:
                experiments.ensure(connection, self.workspace, DEFAULT)

    def _check(self, connection: Connection) -> None:
        workspaces.serial(connection, self.workspace)
        if self.caller.run_id is not None:
            home = reach.home_of(connection, self.caller.run_id)
            if home is None or home.workspace != self.workspace:
                raise not_allowed(
                    self.caller.run_id, f"This token does not reach the workspace {self.workspace!r} with this request."
                )


async def _here(workspace: str, request: Request) -> Here:
    return Here(context_of(request), await caller(request), workspace)


At = Annotated[Here, Depends(_here)]


def must_be_active(run: Run) -> None:
    if run.archived_at is not None:
        raise Conflict(
            "run_deleted",
            f"The run {run.id!r} is archived, which is deleted to MLflow, and takes nothing more from its clients.",
            "Bring it back with `MlflowClient().restore_run(run_id)`, or log to another run.",
        )


def no_experiment(id: str) -> NotFound:
    return NotFound(
        "experiment_not_found",
        f"There is no experiment {id[:80]!r} in this workspace.",
        "`mlflow.set_experiment(name)` makes one; `mlflow.search_experiments()` lists them.",
    )


def _named(run_id: str) -> str:
    if not run_id:
        raise Refused("bad_request", "The request names no run.", "Send `run_id`.")
    return run_id
