"""What is found out while a run is prepared, recorded as its properties in a journal: nothing waits for the server."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Mapping

from runyard.contracts import journal
from runyard.contracts.plan import Plan


def record(plan: Plan, folder: Path, writer: str, properties: Mapping[str, str]) -> None:
    """Add properties to the run; `writer` is what writes them here, once in an attempt."""
    path = folder / "telemetry" / "journal" / journal.file_name(plan.run_id, f"{writer}-{plan.attempt}")
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    with open(descriptor, "wb") as file:
        file.write(journal.line(journal.PROPERTIES, dict(properties)))
