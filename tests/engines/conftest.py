"""Gangs as the scheduler makes them, and an events that remembers what it was told."""

from __future__ import annotations

import queue
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path

from runyard.contracts.compute import Resources
from runyard.contracts.distribution import Distribution
from runyard.contracts.plan import Launch, Plan
from runyard.engines.base import Gang
from runyard.engines.sdk_folder import sdk_folder


@dataclass
class Listener:
    """`EngineEvents` for tests. `gone_runs` holds (run id, how, taken), `said` every event in the order it came."""

    gone_runs: queue.Queue[tuple[str, str, bool]] = field(default_factory=queue.Queue)
    said: list[tuple[str, ...]] = field(default_factory=list)

    def waits(self, run_id: str, reason: str) -> None:
        self.said.append(("waits", run_id, reason))

    def placed(self, run_id: str) -> None:
        self.said.append(("placed", run_id))

    def gone(self, run_id: str, how: str, taken: bool = False) -> None:
        self.said.append(("gone", run_id, how))
        self.gone_runs.put((run_id, how, taken))


def gang_of(
    home: Path, run_id: str = "run-1", nodes: int = 1, resources: Resources | None = None, **launch: object
) -> Gang:
    """A gang whose plans lead to a server that nobody answers for."""
    first = Plan(
        run_id=run_id,
        root_run_id=run_id,
        experiment="e",
        experiment_id="i",
        workspace="local",
        subscription_id="s",
        resource_group="g",
        target="local",
        token="the token of the run",
        server_url="http://127.0.0.1:9",  # nobody listens there
        launch=Launch.from_dict(
            {"interpreter": sys.executable, "distribution": Distribution(nodes=nodes).as_dict(), **launch}
        ),
        sdk=str(sdk_folder(home)),
        grace_seconds=0.2,
        link="a secret of the gang",
    )
    plans = [replace(first, node=node) for node in range(nodes)]
    return Gang(plans, b"", resources or Resources())
