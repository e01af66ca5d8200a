"""The script of a steady run: so many points and one line a second, for so many seconds.

log_steadily.py POINTS SECONDS
"""

from __future__ import annotations

import sys
import time

from azureml.core import Run


def main(points: int, seconds: int) -> None:
    run = Run.get_context()
    began = time.monotonic()
    for second in range(seconds):
        for number in range(points):
            run.log(f"metric-{number % 5}", second + number / 7)
        print(f"{time.time():.6f}", flush=True)  # whoever follows sees how old the line is
        time.sleep(max(0.0, began + second + 1 - time.monotonic()))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
