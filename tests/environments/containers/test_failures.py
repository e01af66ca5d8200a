"""What engines, registries and pip report, for a user. The sentences are theirs; no registry can be reached here."""

from __future__ import annotations

import pytest

from runyard.environments.containers import failures

FETCHING = {
    "pull access denied for x, repository does not exist or may require 'docker login'": "ImageNotFound",
    "manifest for python:9.9 not found: manifest unknown": "ImageNotFound",
    "unauthorized: authentication required": "RegistryRefused",
    "toomanyrequests: You have reached your pull rate limit": "RegistryRefused",
    "Get https://registry-1.docker.io/v2/: dial tcp: lookup registry-1.docker.io: no such host": "RegistryUnreachable",
    "Get https://r/v2/: net/http: request canceled (Client.Timeout exceeded while awaiting headers)": (
        "RegistryUnreachable"
    ),
    "write /var/lib/docker/tmp/x: no space left on device": "DiskFull",
    "something new": "ImageNotFetched",
}
INSTALLING = {
    "ERROR: No matching distribution found for torch==1.6.0": "PackageNotFound",
    "WARNING: Retrying: NewConnectionError\nERROR: No matching distribution found for x": "IndexUnreachable",
    "THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE": "HashMismatch",
    "    a 1.0 depends on c==1\n    b 1.0 depends on c==2\nERROR: ResolutionImpossible": "PackagesConflict",
    "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device": "DiskFull",
    "error: command 'gcc' failed": "InstallFailed",
}


@pytest.mark.parametrize("said", FETCHING)
def test_fetching(said: str) -> None:
    problem = failures.of_fetching("python:9.9", said)
    assert problem.code == FETCHING[said]
    assert said in problem.message
    assert problem.help


@pytest.mark.parametrize("said", INSTALLING)
def test_installing(said: str) -> None:
    problem = failures.of_installing("python:3.11", said.splitlines())
    assert problem.code == INSTALLING[said]
    assert problem.help


def test_a_conflict_shows_the_lines_that_clash() -> None:
    said = [
        "The conflict is caused by:",
        "    a 1.0 depends on c==1",
        "    The user requested c==2",
        "ResolutionImpossible",
    ]
    assert failures.of_installing("x", said).message.splitlines()[1:] == [
        "  a 1.0 depends on c==1",
        "  The user requested c==2",
    ]


def test_logging_in() -> None:
    assert failures.of_logging_in("r", "me", "unauthorized: incorrect username or password").code == "RegistryRefused"
    assert failures.of_logging_in("r", "me", "dial tcp 127.0.0.1:1: connection refused").code == "RegistryUnreachable"
