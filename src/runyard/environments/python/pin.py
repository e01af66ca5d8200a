"""The pin of Python's version in a conda file (`3.8`, `3.6.2`, `>=3.8,<3.11`), and which versions it allows."""

from __future__ import annotations

import re
from dataclasses import dataclass

from runyard.environments.problem import EnvironmentProblem
from runyard.environments.python.interpreters import Version

_CLAUSE = re.compile(r"(>=|<=|==|!=|~=|>|<|=)?(\d{1,9}(?:\.\d{1,9}){0,2})(?:\.\*|\*)?(?:=[\w.*]+)?")


@dataclass(frozen=True)
class Clause:
    operator: str
    version: tuple[int, ...]

    def allows(self, version: Version) -> bool:
        within = version[: len(self.version)] == self.version
        whole = (*self.version, 0, 0)[:3]
        if self.operator in ("==", "!="):
            return within == (self.operator == "==")
        if self.operator == "~=":
            return version >= whole and version[: len(self.version) - 1] == self.version[:-1]
        return {">=": version >= whole, ">": version > whole, "<=": version <= whole, "<": version < whole}[
            self.operator
        ]


@dataclass(frozen=True)
class PythonPin:
    """Any of the alternatives, all clauses of it."""

    text: str
    alternatives: tuple[tuple[Clause, ...], ...]

    def allows(self, version: Version) -> bool:
        return any(all(clause.allows(version) for clause in clauses) for clauses in self.alternatives)

    @property
    def is_range(self) -> bool:
        """Whether it leaves the minor version open, so that the highest is wanted."""
        clauses = [clause for alternative in self.alternatives for clause in alternative]
        return len(self.alternatives) > 1 or not any(
            clause.operator == "==" and len(clause.version) > 1 for clause in clauses
        )

    @property
    def minor(self) -> int:
        """The minor version that it names first: the place to look near."""
        version = self.alternatives[0][0].version
        return version[1] if len(version) > 1 else 0

    @property
    def request(self) -> str:
        """The pin in the notation of uv."""
        clauses = self.alternatives[0]
        if len(clauses) == 1 and clauses[0].operator == "==":
            return ".".join(map(str, clauses[0].version))
        return ",".join(f"{clause.operator}{'.'.join(map(str, clause.version))}" for clause in clauses)


def parse(text: str) -> PythonPin:
    """
    >>> parse("3.8").allows((3, 8, 18)), parse("3.6.2").allows((3, 6, 15)), parse(">=3.8,<3.11").allows((3, 11, 0))
    (True, False, False)
    """
    return PythonPin(text, tuple(tuple(_clause(text, each) for each in part.split(",")) for part in text.split("|")))


def _clause(text: str, part: str) -> Clause:
    match = _CLAUSE.fullmatch(part.strip())
    if match is None:
        raise EnvironmentProblem(
            "PythonPinInvalid",
            f"'python={text}' in the specification is not a version of Python.",
            "Write a version, such as python=3.10 or python>=3.9,<3.12.",
        )
    operator = match[1] if match[1] not in (None, "=") else "=="
    return Clause(operator, tuple(map(int, match[2].split("."))))
