"""Whether the server's machine has what the Ray engine needs."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from collections.abc import Iterator, Sequence

from runyard.contracts.compute import Target
from runyard.contracts.installation import installation
from runyard.engines.base import Finding


def diagnose(targets: Sequence[Target]) -> Iterator[Finding]:
    """Ray's package, unless targets name a Python of their own that has it."""
    needed_by = sorted({target.name for target in targets if not target.options.get("ray_python")})
    if importlib.util.find_spec("ray") is not None:
        yield Finding(True, f"version {importlib.metadata.version('ray')}")
    elif needed_by:
        yield Finding(
            False,
            f"not installed, but {', '.join(needed_by)} needs it",
            f"Install it beside the server ({installation().with_extra('ray')}), then `runyard down` and "
            "`runyard up`; or name a Python that has it when you attach the cluster (`--ray-python`).",
        )
