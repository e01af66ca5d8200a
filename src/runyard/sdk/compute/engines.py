"""The engine of a compute target: a run on the submitter's machine is submitted with more than one on a cluster."""

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
"""How long the answer is cached. A target can be removed, and its name given to another engine."""


def engine_of(workspace: Workspace, target: str) -> str:
    """The engine of a target: of `local` without a request, of others with one that is cached for a while."""
    if target in (LOCAL, "", None):
        return LOCAL_ENGINE
    known = workspace._engines.get(target)
    if known is not None and time.monotonic() - known[0] < FRESH_SECONDS:
        return known[1]
    address = f"/api/workspaces/{quote(workspace.name)}/compute/{quote(target)}"
    try:
        document = cast("ComputeDocument", workspace.service.get(address))
    except AuthenticationException:  # inside a run elsewhere: its token can create child runs, and read nothing else
        return UNKNOWN
    workspace._engines[target] = (time.monotonic(), document["engine"])
    return document["engine"]
