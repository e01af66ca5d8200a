"""A compute target for each test that wants one."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

from runyard.sdk.workspace.workspace import Workspace


@pytest.fixture
def name(workspace: Workspace) -> Iterator[str]:
    """The name of a target of the test's own, which is gone afterwards."""
    chosen = f"c{uuid.uuid4().hex[:10]}"
    yield chosen
    made = workspace.compute_targets.get(chosen)
    if made is not None:
        for run in made.get_active_runs():  # type: ignore[attr-defined]
            run.cancel()
            run.wait_for_completion(raise_on_error=False)
        made.delete()
