"""Which Python an environment is made with: one that is installed, one that uv can fetch, or a clear refusal."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, Mapping

from runyard.contracts.environment import STOCK_PYTHONS
from runyard.environments import command
from runyard.environments.problem import EnvironmentProblem
from runyard.environments.python import interpreters
from runyard.environments.python.interpreters import MINIMUM, Interpreter
from runyard.environments.python.pin import PythonPin, parse

_NO_SUCH = "No download found"  # what uv prints for a Python that it does not know


@dataclass(frozen=True)
class Choice:
    """The Python, what the log should mention, and what was relaxed to get it."""

    interpreter: Interpreter
    notes: list[str] = field(default_factory=list)
    changes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Chooser:
    """Chooses among what `memory` (a folder) and the machine know, and what uv can fetch."""

    uv: Path
    memory: Path
    variables: Mapping[str, str]
    report: Callable[[str], None]
    check: Callable[[], None]

    def choose(self, wanted: str, relax: bool = False) -> Choice:
        """The Python for the pin of a specification; empty: any will do."""
        first = interpreters.running()
        if not wanted:
            return Choice(first)
        pin = parse(wanted)
        if pin.allows(first.version) and not pin.is_range:
            return Choice(first)
        here = interpreters.installed(self.memory)
        fits = [each for each in here if each.usable and pin.allows(each.version)]
        if fits:
            return Choice(max(fits, key=lambda each: each.version))
        if wanted in STOCK_PYTHONS:
            # No pin: the Python of today serves packages of today, on every machine alike.
            return Choice(first, [f"Python {first.text} is taken: {pin.text} is only what SDK v1 fills in."])
        return self._fetched_or_relaxed(pin, here, relax)

    def _fetched_or_relaxed(self, pin: PythonPin, here: list[Interpreter], relax: bool) -> Choice:
        fetched, why = self._fetch(pin)
        if fetched is not None:
            return Choice(fetched, [f"Python {fetched.text} was fetched by uv."])
        if not relax:
            raise _not_found(pin, here, why)
        near = parse(f"3.{max(pin.minor, MINIMUM[1])}")
        nearest = min((each for each in here if each.usable), key=lambda each: _distance(pin, each))
        if not near.allows(nearest.version) and _NO_SUCH in why:
            nearest = self._fetch(near)[0] or nearest
        change = f"python={pin.text} → {nearest.text}: {_why_not(pin, here, why)}"
        return Choice(nearest, changes=[change])

    def _fetch(self, pin: PythonPin) -> tuple[Interpreter | None, str]:
        """uv's own build of a Python, or the reason why there is none. It must not wait long for a network."""
        self.report(f"Python {pin.text} is not installed: asking uv for it.")
        variables = {"UV_HTTP_RETRIES": "1", "UV_HTTP_CONNECT_TIMEOUT": "5", **self.variables}
        argv: list[str | Path] = [self.uv, "python", "install", "--no-bin", pin.request]
        finished = command.run(argv, lambda line: None, self.check, variables)
        here = [each for each in interpreters.installed(self.memory) if each.usable and pin.allows(each.version)]
        if here:
            return max(here, key=lambda each: each.version), ""
        return None, finished.output


def _distance(pin: PythonPin, each: Interpreter) -> tuple[int, int, int]:
    """Near in minor versions; of two that are as near, the newer; then the newest patch."""
    minor = each.version[1]
    return abs(minor - pin.minor), -minor, -each.version[2]


def _not_found(pin: PythonPin, here: list[Interpreter], why: str) -> EnvironmentProblem:
    return EnvironmentProblem(
        "PythonNotFound",
        f"The specification asks for python={pin.text}, which cannot be had here: {_why_not(pin, here, why)}; "
        f"no conda was found. Installed: {', '.join(dict.fromkeys(each.text for each in here))}.",
        "Install conda (or micromamba) on this machine, or a Python that fits; or change the pin to an installed "
        "version; or let this workspace take the nearest version: runyard config set environments.relax true",
    )


def _why_not(pin: PythonPin, here: list[Interpreter], why: str) -> str:
    old = [each for each in here if pin.allows(each.version)]
    if old:
        return f"{old[0].path} is older than Python {'.'.join(map(str, MINIMUM))}, the oldest that is supported"
    fetching = "uv has none" if _NO_SUCH in why else f"uv cannot fetch it ({_reason(why)})"
    return f"not installed, and {fetching}"


def _reason(output: str) -> str:
    causes = [line.split("cause:", 1)[1].strip() for line in output.splitlines() if "cause:" in line]
    last = [line.strip() for line in output.splitlines() if line.strip()][-1:]
    return (causes[-1:] or last or ["it gave no reason"])[0]
