"""A request for a new run that can be repeated safely."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from runyard.client.http import ClientProblem, quote
from runyard.sdk.workspace.service import Service, sdk_exception

if TYPE_CHECKING:
    from runyard.contracts.documents import RunDocument

SCRIPT_TYPE, INTERACTIVE_TYPE = "azureml.scriptrun", "azureml.interactive"


def make_run(service: Service, wanted: dict[str, Any], chosen: bool, whole_snapshot: bool | None = None) -> RunDocument:
    """Make a run under the id in the request. `chosen`: the user chose it, so it may belong to another run.
    `whole_snapshot`: its snapshot was not offered to the server before, and must be known there to be whole.

    A generated id cannot: when the server reports that it is taken, an earlier try of this request got through although
    its response did not.
    """
    params = {"whole_snapshot": whole_snapshot or None}
    try:
        return cast("RunDocument", service.client.post("/api/runs", wanted, params=params, idempotent=not chosen))
    except ClientProblem as problem:
        if chosen or problem.code != "run_exists":
            raise sdk_exception(problem) from None
    return cast("RunDocument", service.get(f"/api/runs/{quote(str(wanted['run_id']))}"))
