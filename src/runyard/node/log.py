"""The node runner's own log: lines on standard output, which the engine has put into `streams/runner.log`."""

from __future__ import annotations

import time

from runyard.contracts.secrets import mask


def log_line(text: str) -> None:
    """Write one line with the time, and without credentials. A full disk, or a reader that has ended, must not
    end a run."""
    now = time.time()
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now))
    try:
        print(f"{stamp}.{int(now % 1 * 1000):03d}Z {mask(text)}", flush=True)
    except OSError:
        return
