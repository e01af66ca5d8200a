"""Which engine a compute target has: a run beside its submitter takes other things along than one on a cluster."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, cast

from runyard.client.http import quote
from runyard.contracts.compute import LOCAL, LOCAL_ENGINE
from runyard.sdk.exceptions import AuthenticationException

if TYPE_CHECKING:
    from runyard.contracts.documents import ComputeDocument
    from runyard.sdk.workspace.workspace import Workspace

UNKNOWN = ""
FRESH_SECONDS = 30.0
"""For how long an answer holds. A target can be removed, and another engine get its name."""


def engine_of(workspace: Workspace, target: str) -> str:
    """The engine of a target: of `local` with no request, of others with one that is remembered for a while."""
    if target in (LOCAL, "", None):
        return LOCAL_ENGINE
    known = workspace._engines.get(target)
    if known is not None and time.monotonic() - known[0] < FRESH_SECONDS:
        return known[1]
    address = f"/api/workspaces/{quote(workspace.name)}/compute/{quote(target)}"
    try:
        document = cast("ComputeDocument", workspace.service.get(address))
    except AuthenticationException:  # inside a run elsewhere: its token makes child runs, and may not look around
        return UNKNOWN
    workspace._engines[target] = (time.monotonic(), document["engine"])
    return document["engine"]
