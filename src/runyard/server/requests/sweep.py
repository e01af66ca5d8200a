"""The part of a request for a run that makes it a sweep: its form, and the rules that it must follow."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue
from sqlalchemy import Connection

from runyard.contracts import states
from runyard.contracts.sweeps import sweep as contract
from runyard.contracts.sweeps.sweep import BadSpace, BadSweep, Sweep
from runyard.scheduler.sweeps.children import parameters_of
from runyard.scheduler.sweeps.policies.policy import policy_of
from runyard.scheduler.sweeps.samplers.sampler import sampler_of
from runyard.server.middleware.auth import Caller
from runyard.server.middleware.problems import Problem
from runyard.store.assets import sweeps
from runyard.store.runs import runs


class SweepRequest(BaseModel):
    """`runyard.contracts.sweeps.sweep.Sweep`, as a client sends it, and the properties of its children."""

    model_config = ConfigDict(extra="forbid")

    sampling: dict[str, JsonValue]
    metric: str = Field(max_length=255)
    goal: Literal["maximize", "minimize"]
    runs: int
    at_once: int
    minutes: int = contract.LONGEST_MINUTES
    policy: dict[str, JsonValue] = {"name": contract.NO_POLICY}
    resume_from: list[str] = Field([], max_length=contract.MOST_PARENTS)
    resume_children: list[str] = Field([], max_length=1000)
    child_properties: dict[str, str | None] = {}

    def sweep(self) -> Sweep:
        return Sweep.from_dict(self.model_dump())


class ExtensionRequest(BaseModel):
    """How many more children a sweep may have."""

    model_config = ConfigDict(extra="forbid")

    runs: int = Field(ge=1, le=contract.MOST_RUNS)


def checked(request: SweepRequest, caller: Caller) -> Sweep:
    """The sweep of a request, with a seed if it has none: a server that is killed goes on with the same one."""
    sweep = request.sweep()
    own = [name for name in (sweep.sampling.get("name"), sweep.policy.get("name")) if ":" in str(name)]
    if own and caller.run_id is not None:
        raise Problem(
            "not_allowed",
            f"A run may not ask for {own[0]!r}: a class of one's own is loaded by the server.",
            "Submit the sweep from outside of a run.",
        )
    try:
        sweep.check()
        sampler_of(sweep)
        policy_of(sweep)
    except BadSpace as error:
        raise bad(error) from None
    properties = {contract.SEED: random.SystemRandom().randrange(1 << 31), **sweep.properties}
    return Sweep.from_dict({**sweep.as_dict(), "sampling": {**sweep.sampling, "properties": properties}})


def with_former(connection: Connection, sweep: Sweep, workspace: str) -> Sweep:
    """The sweep with what it needs of former ones. Refused when those have not ended, or compared something else."""
    for run_id in sweep.resume_from:
        run, former = runs.get(connection, run_id), sweeps.get(connection, run_id).sweep
        if run.workspace != workspace:
            raise bad(BadSweep(f"The sweep {run_id!r} is in another workspace, {run.workspace!r}."))
        if run.status not in (states.COMPLETED, states.CANCELED):
            raise bad(BadSweep(f"The sweep {run_id!r} is {run.status}: one can go on from Completed or Canceled."))
        if (former.metric, former.goal) != (sweep.metric, sweep.goal):
            raise bad(
                BadSweep(
                    f"The sweep {run_id!r} was to {former.goal} {former.metric!r}, this one is to {sweep.goal} "
                    f"{sweep.metric!r}: their children cannot be compared."
                )
            )
    for run_id in sweep.resume_children:
        run = runs.get(connection, run_id)
        if run.workspace != workspace:
            raise bad(BadSweep(f"The run {run_id!r} is in another workspace, {run.workspace!r}."))
        if not run.ended:
            raise bad(BadSweep(f"The run {run_id!r} is {run.status}: only one that has ended can be resumed."))
    try:
        found = [parameters_of(connection, run_id) for run_id in sweep.resume_children]
    except BadSweep as error:
        raise bad(error) from None
    return replace(sweep, resume_parameters=found)


def tags_of(sweep: Sweep) -> dict[str, str | None]:
    """The tags in which SDK v1 stores the settings of a sweep."""
    settings: dict[str, Any] = {
        "generator_config": sweep.sampling,
        "primary_metric_config": {"name": sweep.metric, "goal": sweep.goal},
        "policy_config": sweep.policy,
        contract.RUNS_TAG: sweep.runs,
        "max_concurrent_jobs": sweep.at_once,
        "max_duration_minutes": sweep.minutes,
    }
    return {f"{contract.SYSTEM_TAG}{name}": json.dumps(value) for name, value in settings.items()}


def bad(error: BadSpace) -> Problem:
    return Problem("bad_sweep", str(error), "docs/sweeps.md shows what a sweep is made of.")
