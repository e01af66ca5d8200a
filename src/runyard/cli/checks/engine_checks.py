"""What `runyard doctor` reports of the engines: whether they can be used here, and whether attached clusters answer.

Nothing of this is fatal: a cluster that is away is missed only by the runs on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from runyard.cli.checks.check import OK, WARN, Check
from runyard.client.http import ClientProblem
from runyard.contracts.compute import Target
from runyard.contracts.engines import BUILT_IN, EngineDescription

if TYPE_CHECKING:
    from runyard.cli.api import Api
    from runyard.contracts.documents import ComputeDocument
    from runyard.engines.discovery import InstalledEngine

PATIENCE = 20.0


def engines(server: Api | None, here: bool) -> Iterator[Check]:
    """`here`: the server runs on this machine, so what is installed on it counts."""
    targets: list[ComputeDocument] = []
    if server is not None:
        try:
            targets = [target for workspace in server.workspaces() for target in server.targets(workspace, PATIENCE)]
        except ClientProblem as problem:
            yield Check("compute", WARN, f"the compute targets cannot be listed: {problem.title}", problem.help)
    if here:
        yield from here_installed([Target.from_dict(target) for target in targets])
    yield from away(targets)


def here_installed(targets: Sequence[Target]) -> Iterator[Check]:
    """Every engine of this installation: those of Runyard, then those of other packages."""
    from runyard.engines import discovery

    for description in BUILT_IN.values():
        yield from diagnosed(description, targets)
    for found in discovery.scan():
        yield from installed(found, targets)


def installed(found: InstalledEngine, targets: Sequence[Target]) -> Iterator[Check]:
    """The engine of another package. Importing it is the first test of it."""
    if found.description is None:
        yield _broken(found.name, f"that of {found.package} cannot be used: {found.problem}")
        return
    checks = list(diagnosed(found.description, targets))
    if all(check.verdict == OK for check in checks):
        yield Check(f"engine {found.name}", OK, f"from {found.package}")
    yield from checks


def diagnosed(description: EngineDescription, targets: Sequence[Target]) -> Iterator[Check]:
    """What an engine finds out about this machine, given the targets that use it."""
    from runyard.engines import discovery
    from runyard.engines.base import EngineError
    from runyard.engines.guard import guarded

    own = [target for target in targets if target.engine == description.name]
    try:
        engine = discovery.load(description)
        with guarded(description.name):
            findings = list(engine.diagnose(own))
    except EngineError as error:
        yield _broken(description.name, str(error))
        return
    for finding in findings:
        yield Check(f"engine {description.name}", OK if finding.ok else WARN, finding.message, finding.help)


def _broken(name: str, problem: str) -> Check:
    help = "Update or uninstall the package it comes from, then `runyard down` and `runyard up`. Others are not harmed."
    return Check(f"engine {name}", WARN, problem, help)


def away(targets: Sequence[ComputeDocument]) -> Iterator[Check]:
    """Targets whose engine does not answer, or cannot be used."""
    for target in targets:
        for error in target["status"]["errors"]:
            yield Check(
                f"compute {target['name']}",
                WARN,
                error["message"],
                f"Runs on it wait. `runyard compute show {target['name']}` tells when it is back.",
            )
