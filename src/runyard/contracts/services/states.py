"""The words for services, their replicas and what is being done to them, and the rules for their names."""

from __future__ import annotations

import re

ACI, AKS, LOCAL, ENDPOINT = "aci", "aks", "local", "endpoint"
KINDS = (ACI, AKS, LOCAL, ENDPOINT)

TRANSITIONING, HEALTHY, UNHEALTHY, FAILED, DELETING, STOPPED = (
    *("Transitioning", "Healthy", "Unhealthy", "Failed", "Deleting", "Stopped"),
)

RUNNING, SUCCEEDED, CANCELLED, TIMED_OUT = "Running", "Succeeded", "Cancelled", "TimedOut"
"""States of an operation; FAILED is one as well."""

STARTING, READY, SICK, DRAINING, GONE = "starting", "ready", "unhealthy", "draining", "gone"
"""States of a replica: it prepares or loads; it answers; its process has ended or hangs, and is started again; it
answers what it has begun and takes nothing more; its run is over."""

WORKER, GATEWAY = "worker", "gateway"
"""What a replica does: it answers requests, or passes them on to those that do."""

NEW, CURRENT, SUPERSEDED, REFUSED = "New", "Current", "Superseded", "Failed"
"""States of a revision: it is brought up; it serves; another one has taken its place; it did not come up."""

NAME = re.compile(r"[a-z](?:[-a-z0-9]*[a-z0-9])?", re.ASCII)
SHORTEST_NAME, LONGEST_NAME = 3, 32
MOST_VERSIONS = 6
"""Versions that one endpoint can have: Azure's rule."""

EXPERIMENT = "runyard-services"
"""The experiment of the runs that are replicas. Lists leave it out."""


class BadServiceName(ValueError):
    """A name that no service can have; the message has the rule."""


def check_name(name: object, what: str = "service") -> str:
    """
    >>> check_name("my-service")
    'my-service'
    """
    if isinstance(name, str) and SHORTEST_NAME <= len(name) <= LONGEST_NAME and NAME.fullmatch(name):
        return name
    shown = repr(name)[:80]
    raise BadServiceName(
        f"{shown} is no name for a {what}: use {SHORTEST_NAME} to {LONGEST_NAME} lower-case letters, digits or '-', "
        "with a letter first and no '-' at the end."
    )
