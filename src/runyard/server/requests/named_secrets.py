"""Which secrets the request of a run may name. The user's own may name all.

Whoever reads a definition sees the names of its secrets, so a name must not be worth the value. A run may name what it
was given itself, and use an environment of its workspace as it stands there: the same line, the same registry. The
same name in another line could send the value anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import Connection

from runyard.contracts.environment import specification_of
from runyard.contracts.secrets import is_reference, names_in
from runyard.server.context import ServerContext
from runyard.server.middleware.auth import Caller
from runyard.server.middleware.problems import Problem
from runyard.store.assets import environments
from runyard.store.runs import runs

_LOGIN = ("image", "registry", "registry_user", "registry_password")


def check(context: ServerContext, caller: Caller, document: Mapping[str, Any]) -> None:
    """Refuse what names a secret that the caller's run may not use; `document` is a launch or a specification."""
    if caller.run_id is None or not names_in(document):
        return
    with context.store.database.read() as connection:
        own = names_in(_launch(connection, caller.run_id))
        foreign = {text for text in _uses(document) if not names_in(text) <= own}
        foreign -= set(_registered(connection, caller.run_id, foreign)) if foreign else set()
    if foreign:
        first = sorted(name for text in foreign for name in names_in(text) - own)[0]
        raise Problem(
            "not_allowed",
            f"The run {caller.run_id!r}, whose token this is, may not use the secret {first}.",
            "Send the credentials themselves, or use an environment that is registered in the workspace unchanged.",
        )


def check_definition(context: ServerContext, caller: Caller, definition: Mapping[str, Any]) -> None:
    """The same for the definition of an environment, in the form of SDK v1."""
    check(context, caller, {**definition, "docker": None, **specification_of(definition).as_dict()})


def _launch(connection: Connection, run_id: str) -> Any:
    """What the process that the run belongs to was started with: a child without one is led by its parent's."""
    launches = (runs.definition_and_launch(connection, each)[1] for each in runs.ancestors(connection, run_id))
    return next((launch for launch in launches if launch), None)


def _registered(connection: Connection, run_id: str, texts: set[str]) -> Iterator[str]:
    """How the environments of the run's workspace use the secrets that the texts name."""
    workspace = runs.get(connection, run_id).workspace
    for definition in environments.naming(connection, workspace, names_in(list(texts))):
        yield from _uses(specification_of(definition).as_dict())
        yield from (text for text in _uses(definition) if not is_reference(text))


def _uses(document: Any) -> Iterator[str]:
    """Every text that names a secret; the password of a registry together with where it is shown."""
    if isinstance(document, str):
        if names_in(document):
            yield document
    elif isinstance(document, Mapping):
        if names_in(document.get("registry_password")):
            yield "\n".join(str(document.get(part) or "") for part in _LOGIN)
        for key, value in document.items():
            if key != "registry_password":
                yield from _uses(value)
    elif isinstance(document, list):
        for each in document:
            yield from _uses(each)
