"""Runs all tests side by side, and those that failed once more, one after the other. For `make test`.

These tests start servers, clusters and training jobs, and a loaded machine can be too slow for one of them now and
then. What fails again fails the whole. What passes alone does not, but is named: it deserves a look.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

MANY = 10
"""More failures than these are no accident: nothing is run again."""

WORKERS = (os.cpu_count() or 1) + 1
"""One more than there are cores: clusters and servers keep tests waiting more than they compute."""

FAILED = Path(".pytest_cache/v/cache/lastfailed")
SOME_TESTS_FAILED = 1  # of pytest's exit codes


def main(arguments: list[str]) -> int:
    pytest = [sys.executable, "-m", "pytest"]
    side_by_side = ["-n", str(WORKERS), "--dist", "loadgroup"]
    code = subprocess.run([*pytest, *side_by_side, "--cache-clear", *arguments]).returncode
    failed = _failed()
    if code != SOME_TESTS_FAILED or not 0 < len(failed) <= MANY:
        return code
    print(f"\n{len(failed)} failed. Once more, alone:", *failed, sep="\n  ", flush=True)
    code = subprocess.run([*pytest, "--cache-clear", *failed]).returncode
    again = _failed()
    flaky = [name for name in failed if name not in again]
    if flaky:
        print("\nFLAKY: failed beside others, passed alone:", *flaky, sep="\n  ", flush=True)
    return code


def _failed() -> list[str]:
    names = json.loads(FAILED.read_text("utf-8")) if FAILED.exists() else []
    return sorted(map(_without_group, names))


def _without_group(name: str) -> str:
    """The name of a test as it can be asked for: beside others, that of its group comes after it.

    >>> _without_group("tests/test_a.py::test_b[x@y]@ray")
    'tests/test_a.py::test_b[x@y]'
    """
    return name[: name.rfind("@")] if name.rfind("@") > name.rfind("]") else name


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
