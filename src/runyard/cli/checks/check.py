"""One line of the report of `runyard doctor`."""

from __future__ import annotations

from dataclasses import dataclass

OK, WARN, FAIL = "ok", "warn", "fail"


@dataclass(frozen=True)
class Check:
    """The result of one check. `help` is what to do when the verdict is not ok."""

    name: str
    verdict: str
    message: str
    help: str = ""
