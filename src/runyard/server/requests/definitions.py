"""Definitions of environments on their way in: in the form of SDK v1, and with no secret left in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from runyard.contracts.environment import Specification, specification_of
from runyard.contracts.secrets import veil
from runyard.server.middleware.problems import Problem
from runyard.store.content.secrets import Secrets

MOST_SECRETS = 256


def checked(definition: Mapping[str, Any]) -> Specification:
    """The specification of a definition; refused when it does not have the form of one."""
    try:
        return specification_of(definition)
    except (AttributeError, TypeError, ValueError) as error:
        raise Problem(
            "bad_environment",
            f"This is no definition of an environment: {error}.",
            "Send what `Environment.to_dict()` gives.",
        ) from error


def veiled(definition: Mapping[str, Any], secrets: Secrets) -> dict[str, Any]:
    """A copy that may be stored and shown."""
    checked(definition)
    document: dict[str, Any] = veil(definition, storing(secrets))
    return document


def storing(secrets: Secrets) -> Callable[[str], str]:
    """Stores the credentials of one request, each of them once. They become files: a request that is made of
    thousands is refused."""
    names: dict[str, str] = {}

    def store(value: str) -> str:
        if value not in names:
            if len(names) == MOST_SECRETS:
                raise Problem(
                    "bad_request",
                    f"The request holds more than {MOST_SECRETS} different credentials.",
                    "Put them into a file of the snapshot, or into fewer addresses.",
                )
            names[value] = secrets.keep(value)
        return names[value]

    return store
