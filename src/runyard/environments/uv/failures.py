"""Why uv could not install a specification: its output turned into one problem with a code of its own.

The patterns match the output of uv 0.13, as recorded when each of these failures was provoked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Mapping

from runyard.contracts.environment import Specification, pip_name
from runyard.environments.conda import names as conda_names
from runyard.environments.problem import EnvironmentProblem

LAST_LINES = 15
RELAX = "let this workspace take the nearest version that can be had: runyard config set environments.relax true"

_MISSING = re.compile(r"[Bb]ecause (\S+) was not found in the|(?<!\S)(\S+) was not found in the package registry")
_NO_VERSION = re.compile(
    r"there (?:is|are) no versions? of (\S+)|(?<!\S)(\S+) has no (?:wheels with|usable|source)|"
    r"only (?:the following versions of )?([^\s<>=!]+)(?:[<>=!]\S*)? (?:is|are) available"
)
_ELSEWHERE = re.compile(r"has no wheels with|does not satisfy Python|has no (?:usable|source)")
_REQUIRED = re.compile(r"you require (.+?)(?:, we can conclude|, which|\.(?:\s|$)|$)")
_TOKEN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_NETWORK = re.compile(
    r"error sending request|client error \(Connect\)|dns error|operation timed out|Connection (?:refused|reset)|"
    r"Could not resolve host|Network connectivity is disabled|HTTP status server error"
)
_ADDRESS = re.compile(r"(?<![a-z+])[a-z+]+://[^\s()`'\"]+")
_REFUSAL = re.compile(r"401 Unauthorized|403 Forbidden")
_FULL = re.compile(r"No space left on device|os error 28\b|Disk quota exceeded")
_HASHES = re.compile(r"Hash mismatch for `([^`]+)`")
_BUILD = re.compile(r"Failed to build `([^`]+)`|Failed to download and build `([^`]+)`")
_UNREADABLE = re.compile(r"Couldn't parse|Unexpected '|Expected '|In `--require-hashes` mode")


@dataclass(frozen=True)
class Failure:
    """What uv's output means: `code` and the packages (normal names) that it is about."""

    code: str
    packages: tuple[str, ...] = ()
    text: str = ""  # what was named: an address, a package with its version
    exists: bool = False  # the requested version exists, but not for this Python or platform


def understand(output: str) -> Failure:
    """The first thing in uv's output that explains the rest."""
    flat = " ".join(output.split())
    if _FULL.search(flat):
        return Failure("DiskFull")
    for code, pattern in (("HashMismatch", _HASHES), ("IndexRefused", _REFUSAL), ("IndexUnreachable", _NETWORK)):
        match = pattern.search(flat)
        if match is not None:
            named = match[1] if pattern.groups else _address(flat, match)
            return Failure(code, _names(named) if pattern.groups else (), named)
    built = _BUILD.search(flat)
    if built is not None:
        return Failure("BuildFailed", _names(built[1] or built[2]), built[1] or built[2])
    if _UNREADABLE.search(flat):
        return Failure("RequirementInvalid")
    return _unsolved(flat)


def explain(output: str, specification: Specification, lines: Mapping[str, str] | None = None) -> EnvironmentProblem:
    """The problem that a user reads. `lines`: the requirements that uv got, by their lines in the specification."""
    asked = dict(lines) if lines is not None else lines_of(specification)
    failure = understand(output)
    named = _lines_about(failure, asked)
    if failure.code == "PackageNotFound":
        return _missing(failure, named, specification)
    if failure.code in ("VersionNotFound", "DependencyConflict"):
        return _unsolvable(failure, named, output)
    message, help = _PLAIN.get(failure.code, _PLAIN["InstallFailed"])
    values = {"what": failure.text or "the package index", "line": ", ".join(map(repr, named)), "last": _last(output)}
    return EnvironmentProblem(failure.code, message.format(**values), help)


def lines_of(specification: Specification) -> dict[str, str]:
    """The packages of a specification as uv gets them, by their line there."""
    return {**conda_names.requirements(specification), **{line: line for line in specification.pip}}


_PLAIN = {
    "DiskFull": (
        "There is no space left on the disk of this machine for the environment or for uv's cache.",
        "Remove environments that are no longer used (runyard env gc), empty uv's cache (uv cache clean), or move "
        "either to a larger disk (RUNYARD_HOME, UV_CACHE_DIR).",
    ),
    "HashMismatch": (
        "The file of {what} is not the one that the specification's --hash allows.\n{last}",
        "Someone has replaced the file, or the hash belongs to another one: check where the package comes from, then "
        "correct the hash, or list the hashes of all its files.",
    ),
    "IndexRefused": (
        "The package index refused this machine (no credentials, or wrong ones): {what}",
        "Put credentials into the index address of the specification, pip's configuration or ~/.netrc; they are kept "
        "as secrets. Also check that the address is right.",
    ),
    "IndexUnreachable": (
        "The package index cannot be reached from this machine: {what}",
        "Check the network, the proxy (HTTPS_PROXY) and the index address (pip config list). Without a network, set "
        "find-links to a folder of wheels, and no-index.",
    ),
    "BuildFailed": (
        "{what} is there as source only for this Python and platform, and does not build here.\n{last}",
        f"Choose a version that has a wheel for this Python, or another Python; or {RELAX}; or install what the build "
        "misses (a compiler, headers).",
    ),
    "RequirementInvalid": (
        "A line of the specification is not a requirement.\n{last}",
        "Correct the line: a name, then a version, such as numpy==1.26.4 or torch>=2.",
    ),
    "InstallFailed": ("uv could not install the packages.\n{last}", "The log of the build holds all that uv said."),
}


def _unsolved(flat: str) -> Failure:
    missing = _MISSING.search(flat)
    if missing is not None:
        name = missing[1] or missing[2]
        return Failure("PackageNotFound", (*_names(name), *_required(flat)), name)
    required = _required(flat)
    if len(required) == 1 and not _twice(flat, required[0]):
        return Failure("VersionNotFound", required, required[0], exists=_ELSEWHERE.search(flat) is not None)
    if required:
        return Failure("DependencyConflict", required)
    version = _NO_VERSION.search(flat)
    if version is not None:
        named = next(group for group in version.groups() if group)
        return Failure("VersionNotFound", _names(named), named)
    return Failure("InstallFailed")


def _required(flat: str) -> tuple[str, ...]:
    """The packages that uv lists as requested, in its order."""
    tokens = [token for part in _REQUIRED.findall(flat) for token in _TOKEN.findall(part)]
    names = [name for token in tokens for name in _names(token) if re.search("[a-z]", name) and name != "and"]
    return tuple(dict.fromkeys(names))


def _twice(flat: str, name: str) -> bool:
    """Whether one package has two requirements that exclude each other."""
    match = _REQUIRED.search(flat)
    tokens = _TOKEN.findall(match[1]) if match is not None else []
    return sum(name in _names(token) for token in tokens) > 1 and _NO_VERSION.search(flat) is None


def _lines_about(failure: Failure, asked: Mapping[str, str]) -> list[str]:
    return [line for line, wanted in asked.items() if pip_name(wanted) in failure.packages]


def _missing(failure: Failure, named: list[str], specification: Specification) -> EnvironmentProblem:
    package = failure.text
    by_conda = [
        line for line in named if line in specification.conda and pip_name(conda_names.requirement(line)) == package
    ]
    if by_conda:
        return needs_conda(by_conda, "not on the package index under this name")
    own = any(pip_name(line) == package for line in named)
    asker = "" if own or not named else f", which {', '.join(map(repr, named))} needs,"
    return EnvironmentProblem(
        "PackageNotFound",
        f"The package '{package}'{asker} does not exist on the package index of this machine.",
        "Check the spelling. A private package needs its index: add --extra-index-url ADDRESS to the specification, or "
        "extra-index-url to pip's configuration.",
    )


def needs_conda(what: list[str], why: str) -> EnvironmentProblem:
    """The refusal of what only conda can bring, where no conda is."""
    return EnvironmentProblem(
        "CondaNeeded",
        f"The specification needs conda for: {', '.join(what)} ({why}); micromamba, mamba and conda were not found on "
        "this machine.",
        "Install micromamba or conda on this machine; or name packages of PyPI in the pip section instead (torch for "
        f"pytorch, opencv-python for opencv); or {RELAX}",
    )


def _unsolvable(failure: Failure, named: list[str], output: str) -> EnvironmentProblem:
    lines = "".join(f"\n    {line}" for line in named)
    if failure.code == "VersionNotFound":
        one = named[0] if named else failure.text
        return EnvironmentProblem(
            failure.code,
            f"'{one}' cannot be had for this Python and platform:\n{_explanation(output)}",
            f"Change the version, or the Python of the specification; or {RELAX}",
        )
    return EnvironmentProblem(
        failure.code,
        f"These lines of the specification exclude each other:{lines}\n{_explanation(output)}",
        f"Loosen one of them; or {RELAX}",
    )


def _explanation(output: str) -> str:
    """uv's own explanation of an unsolvable request."""
    lines = output.splitlines()
    start = next((number for number, line in enumerate(lines) if "No solution found" in line), None)
    if start is None:
        return _last(output)
    reasons = [line.replace("cause:", "").strip() for line in lines[start + 1 :]]
    return "\n".join(line for line in reasons if line)


def _last(output: str) -> str:
    return "\n".join([line for line in output.splitlines() if line.strip()][-LAST_LINES:])


def _address(flat: str, match: re.Match[str]) -> str:
    found = _ADDRESS.search(flat[max(0, match.start() - 400) :])
    return found[0].rstrip(".,") if found is not None else "the package index"


def _names(token: str) -> tuple[str, ...]:
    name = pip_name(token)
    return (name,) if name is not None else ()
