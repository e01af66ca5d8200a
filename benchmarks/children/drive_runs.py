"""Let simulated runs live (`benchmarks.live.simulated_runs`), in a process of their own.

drive_runs.py URL FILE SECONDS SILENT     FILE holds {run id: token} as JSON
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from benchmarks.live.simulated_runs import drive


def main(url: str, file: str, seconds: str, silent: str) -> None:
    tokens = json.loads(Path(file).read_text("utf-8"))
    driven = drive(url, tokens.__getitem__, list(tokens), float(seconds), silent == "silent")
    print(json.dumps({"latencies": driven.latencies, "errors": len(driven.errors), "first": driven.errors[:3]}))


if __name__ == "__main__":
    main(*sys.argv[1:])
