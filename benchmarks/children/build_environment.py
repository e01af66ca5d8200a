"""Build an environment as a node runner does, in this process.

    build_environment.py <folder of environments> <requirements file>

Answers with the seconds that it took, and whether it was built already.
"""

from __future__ import annotations

import json
import sys
import time

began = time.perf_counter()

from pathlib import Path  # noqa: E402 - loading the builder is part of what is measured

from runyard.contracts.environment import Specification  # noqa: E402
from runyard.environments.prepare import Around, peek, prepare  # noqa: E402


def main(folder: Path, requirements: Path) -> None:
    specification = Specification(name="benchmark", pip=tuple(requirements.read_text("utf-8").split()))
    around = Around(folder)
    found = peek(specification, around, _quiet)
    ready = found or prepare(specification, around, _quiet, lambda: None, Path)
    print(json.dumps({"seconds": time.perf_counter() - began, "found": ready.found}))


def _quiet(line: str) -> None:
    return None


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
