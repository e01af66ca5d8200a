"""Relaxing a specification that cannot be had as it is: the nearest versions that can, with each change written down.

It starts from what uv refused and changes only that; what then clashes is loosened further, step by step. What does
not exist under any version is still refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Callable

from runyard.contracts.environment import pip_name
from runyard.environments.command import Finished
from runyard.environments.conda.names import BROUGHT_BY_WHEELS, ONLY_IN_CONDA, RENAMED
from runyard.environments.problem import EnvironmentProblem
from runyard.environments.uv.command import OutOfPatience, Uv
from runyard.environments.uv.failures import Failure, understand

ROUNDS = 60
RELAXABLE = ("VersionNotFound", "DependencyConflict", "PackageNotFound", "CondaNeeded", "BuildFailed")

_PIN = re.compile(r"\s*([A-Za-z0-9][\w.-]*)\s*(\[[^\]]*\])?([^;#]*)")
_VERSION = re.compile(r"(?:==|~=|>=|<=|>|<)\s*([\w.!+]+?)(?:\.\*)?(?=,|\s|$)")
_RESULT = re.compile(r"^([A-Za-z0-9][\w.-]*)(?:\[[^\]]*\])?==(\S+)", re.MULTILINE)
_INSTALLED = re.compile(r"^ [+~] ([A-Za-z0-9][\w.-]*)==(\S+)", re.MULTILINE)


@dataclass
class Line:
    """A line of the specification that is loosened step by step until it can be installed."""

    original: str
    name: str
    extras: str
    bounds: str
    marker: str
    verbatim: str = ""  # an address, or a line that nothing was changed in
    steps: int = 0  # how often it was loosened
    why: str = ""
    dropped: bool = False
    before: Line | None = None  # what it was before it was loosened because of others

    @staticmethod
    def of(original: str, wanted: str) -> Line:
        text, mark, marker = wanted.split(" --hash", 1)[0].partition(";")
        match = _PIN.match(text)
        if match is None or match.end() < len(text) or " @ " in wanted or pip_name(wanted) is None:
            return Line(original, pip_name(wanted) or "", "", "", "", wanted)
        return Line(original, match[1], match[2] or "", match[3].strip(), mark + marker, wanted)

    @property
    def requirement(self) -> str:
        return self.verbatim or f"{self.name}{self.extras}{self.bounds}{' ' if self.marker else ''}{self.marker}"

    @property
    def is_address(self) -> bool:
        return pip_name(self.requirement) is None or " @ " in self.verbatim

    @property
    def pin(self) -> str:
        match = _VERSION.search(self.bounds)
        return match[1] if match is not None else ""

    @property
    def can_give(self) -> bool:
        """Whether there is something left to loosen."""
        return not self.dropped and bool(self.bounds or self.name.lower() in RENAMED)

    def become(self, name: str, bounds: str, why: str) -> None:
        self.name, self.bounds, self.verbatim, self.why = name, bounds, "", self.why or why
        self.steps += 1

    def change(self, installed: dict[str, str]) -> str:
        """What became of it, in one line; empty when nothing did."""
        if self.dropped:
            return f"{self.original} → left out: {self.why}"
        if not self.steps:
            return ""
        version = installed.get(pip_name(self.name) or "", "")
        renamed = pip_name(self.name) != pip_name(self.original)
        became = f"{self.name}=={version}" if renamed and version else version or self.requirement
        return f"{self.original} → {became}: {self.why}"


@dataclass
class Relaxation:
    """Loosens lines until uv can install them. `minor` is the Python, as `3.11`, for the description of the changes."""

    uv: Uv
    python: Path
    minor: str
    folder: Path
    report: Callable[[str], None]
    lines: list[Line]
    sources: bool = True  # whether packages that are there as source only are considered
    wheels_only: list[str] = field(default_factory=list)  # packages that somebody needs and that do not build

    @property
    def packages(self) -> list[str]:
        return [line.requirement for line in self.lines if not line.dropped]

    @property
    def arguments(self) -> list[str]:
        """What was changed is taken as a wheel: looking for a version must not end in building ever older sources."""
        if not self.sources:
            return ["--only-binary=:all:"]
        changed = [line.name for line in self.lines if line.steps and not line.dropped and "==" not in line.bounds]
        return [f"--only-binary={name}" for name in (*changed, *self.wheels_only)]

    def _resolve(self, packages: list[str], *arguments: str) -> Finished:
        try:
            return self.uv.resolve(self.python, packages, self.folder, *self.arguments, *arguments)
        except OutOfPatience:
            if not self.sources:
                return Finished(1, "")
            self.report("Building sources takes too long: from here on only wheels count.")
            self.sources = False
            return self._resolve(packages, *arguments)

    def without_conda(self, conda: tuple[str, ...]) -> None:
        """Give the packages that only conda has the names of PyPI, or none where wheels bring what is in them."""
        for line in self.lines:
            if line.original not in conda or line.name not in ONLY_IN_CONDA:
                continue
            if line.name in BROUGHT_BY_WHEELS:
                line.dropped, line.why = True, "the wheels of PyPI bring it"
            elif line.name in RENAMED:
                self._rename(line)

    @property
    def asked(self) -> dict[str, str]:
        """The present requirements, by the line of the specification."""
        return {line.original: line.requirement for line in self.lines if not line.dropped}

    def loosen(self, output: str, explain: Callable[[str], EnvironmentProblem]) -> None:
        """Change what uv refused, until it finds a solution; its last refusal is raised when nothing can be changed."""
        for _ in range(ROUNDS):
            failure = understand(output)
            if failure.code not in RELAXABLE or not self._step(failure):
                raise explain(output)
            finished = self._resolve(self.packages)
            if finished.ok:
                return self._tighten()
            output = finished.output
        raise explain(output)

    def _tighten(self) -> None:
        """Take back what was loosened in vain, and bring the rest as near to its pin as the others allow."""
        for number, line in enumerate(self.lines):
            if line.before is not None and not self._holds(number, line.before) and line.bounds.startswith(">="):
                nearest = self._nearest_beside(line)
                if nearest:
                    self._holds(number, replace(line, bounds=f"=={nearest}"))

    def _holds(self, number: int, line: Line) -> bool:
        """Put a line in place of another, if all can still be had together."""
        former, self.lines[number] = self.lines[number], line
        if self._resolve(self.packages).ok:
            return True
        self.lines[number] = former
        return False

    def _nearest_beside(self, line: Line) -> str:
        """The lowest version from the pin upwards that goes with the other lines and has a wheel."""
        bounded = [each.requirement for each in self.lines if not each.dropped and (each.bounds or each.is_address)]
        arguments = ["--resolution=lowest-direct", f"--only-binary={line.name}"]
        finished = self._resolve(bounded, *arguments)
        versions = _RESULT.findall(finished.output) if finished.ok else []
        return next((str(version) for name, version in versions if pip_name(name) == pip_name(line.name)), "")

    def changes(self, output: str) -> list[str]:
        """Every change, with the versions that were installed in the end."""
        installed = {pip_name(name) or name: version for name, version in _INSTALLED.findall(output)}
        made = [line.change(installed) for line in self.lines]
        made += [f"{name} → a version that has a wheel: its source does not build" for name in self.wheels_only]
        return [change for change in made if change]

    def _step(self, failure: Failure) -> bool:
        """Loosen one line that the failure is about; False when none can give."""
        about = [line for line in self.lines if (pip_name(line.requirement) or "") in failure.packages]
        movable = sorted((line for line in about if line.can_give), key=lambda line: line.steps)
        renamed = next((line for line in movable if line.name.lower() in RENAMED), None)
        if renamed is not None:
            return self._rename(renamed)
        if failure.code == "PackageNotFound" and about and pip_name(about[0].requirement) == failure.packages[0]:
            return False
        if not movable:
            return self._only_wheels(failure)
        line = movable[0]
        others = ", ".join(each.original for each in about if each is not line)
        if failure.code == "DependencyConflict":
            return self._loosen(line, f"clashes with {others or 'what others need'}")
        return self._nearest(line, failure) or self._loosen(line, f"not for Python {self.minor}")

    def _rename(self, line: Line) -> bool:
        old = line.name.lower()
        line.become(RENAMED[old], line.bounds, f"{old} is called {RENAMED[old]} on PyPI")
        return True

    def _nearest(self, line: Line, failure: Failure) -> bool:
        """Put the nearest version that exists in place of the pin: above first, wheels first."""
        if not line.pin or line.steps > 1:
            return False
        above, below = f"{line.name}>={line.pin}", f"{line.name}<{line.pin}"
        for wheels in (["--only-binary=:all:"], []):
            for wanted, arguments in ((above, ["--resolution=lowest-direct"]), (below, [])):
                version = self._version(wanted, [*arguments, *wheels])
                if version and f"=={version}" != line.bounds:
                    line.become(line.name, f"=={version}", self._why(failure))
                    self.report(f"{line.original}: {version} is the nearest version that can be had.")
                    return True
        return False

    def _why(self, failure: Failure) -> str:
        if failure.code == "BuildFailed":
            return f"does not build on Python {self.minor}"
        return f"not for Python {self.minor}" if failure.exists else "there is no such version"

    def _version(self, wanted: str, arguments: list[str]) -> str:
        finished = self._resolve([wanted], "--no-deps", *arguments)
        match = _RESULT.search(finished.output) if finished.ok else None
        return match[2] if match is not None else ""

    def _loosen(self, line: Line, why: str) -> bool:
        """From the pin to at least that version, and from there to any."""
        at_least = f">={line.pin}" if line.pin and not line.bounds.startswith(">=") else ""
        line.before = line.before or replace(line)
        line.become(line.name, at_least, why)
        self.report(f"{line.original}: tried as {line.requirement} ({why}).")
        return True

    def _only_wheels(self, failure: Failure) -> bool:
        name = failure.packages[0] if failure.code == "BuildFailed" and failure.packages else ""
        if not name or name in self.wheels_only:
            return False
        self.wheels_only.append(name)
        return True
