"""A request for a new run that is repeated makes one run; an id that the user chose twice is refused."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from runyard.sdk.exceptions import UserErrorException
from runyard.sdk.experiment import Experiment
from runyard.sdk.submit.run_request import INTERACTIVE_TYPE, make_run


def wanted(experiment: Experiment) -> dict[str, Any]:
    return {
        "workspace": experiment.workspace.name,
        "experiment": experiment.name,
        "run_id": str(uuid.uuid4()),
        "kind": "interactive",
        "type": INTERACTIVE_TYPE,
    }


def test_a_request_whose_answer_was_lost_makes_one_run(experiment: Experiment) -> None:
    request, service = wanted(experiment), experiment.workspace.service
    first = make_run(service, request, chosen=False)
    again = make_run(service, request, chosen=False)
    assert again["id"] == first["id"] == request["run_id"]
    assert len(list(experiment.get_runs())) == 1


def test_an_id_that_the_user_chose_is_refused_when_it_is_taken(experiment: Experiment) -> None:
    request, service = wanted(experiment), experiment.workspace.service
    make_run(service, request, chosen=True)
    with pytest.raises(UserErrorException, match=request["run_id"]):
        make_run(service, request, chosen=True)


def test_other_refusals_are_not_taken_for_a_success(experiment: Experiment) -> None:
    with pytest.raises(UserErrorException):
        make_run(experiment.workspace.service, {**wanted(experiment), "experiment": "../x"}, chosen=False)
