"""A request for a new run that can be repeated safely."""

from __future__ import annotations

from typing import Any, cast

from runyard.client.http import ClientProblem, quote
from runyard.contracts.documents import RunDocument
from runyard.sdk.workspace.service import Service, sdk_exception

INTERACTIVE_TYPE = "azureml.interactive"


def make_run(service: Service, wanted: dict[str, Any], chosen: bool) -> RunDocument:
    """Make a run under the id in the request. `chosen`: the user chose it, so it may belong to another run.

    A generated id cannot: when the server reports that it is taken, an earlier try of this request got through although
    its response did not.
    """
    try:
        return cast("RunDocument", service.client.post("/api/runs", wanted, idempotent=not chosen))
    except ClientProblem as problem:
        if chosen or problem.code != "run_exists":
            raise sdk_exception(problem) from None
    return cast("RunDocument", service.get(f"/api/runs/{quote(str(wanted['run_id']))}"))
