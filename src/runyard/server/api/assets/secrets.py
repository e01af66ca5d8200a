"""Routes of the secrets of a workspace, its key vault. Lists have names; a value is only in the answer for itself."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from runyard.server.context import Context
from runyard.server.middleware.auth import User
from runyard.server.middleware.problems import Problem
from runyard.server.middleware.reach import Within
from runyard.server.responses.documents import answer, timestamp
from runyard.store.assets import vault
from runyard.store.assets.vault import VaultSecret
from runyard.store.content.secrets import SecretMissing

router = APIRouter(prefix="/api/workspaces/{workspace}/secrets", tags=["secrets"])


class SecretValue(BaseModel):
    model_config = ConfigDict(extra="forbid")

    value: str = Field(max_length=vault.LARGEST)
    content_type: str = Field("", max_length=255)


@router.get("", summary="The names of the secrets of a workspace")
def find(workspace: Within, context: Context) -> Response:
    with context.store.database.read() as connection:
        return answer({"secrets": [_document(each) for each in vault.find(connection, workspace)]})


@router.get("/{name}", summary="The value of a secret")
def get(workspace: Within, name: str, context: Context) -> Response:
    with context.store.database.read() as connection:
        found = vault.get(connection, workspace, name)
    try:
        value = context.secrets.value(found.key)
    except SecretMissing:
        raise Problem(
            "secret_not_found",
            f"The value of the secret {found.name!r} is not on the server's disk any more.",
            f"Set it again: `runyard secret set {found.name}`.",
        ) from None
    return answer({**_document(found), "value": value})


@router.put("/{name}", summary="Set a secret", dependencies=[User])
def put(workspace: str, name: str, body: SecretValue, context: Context) -> Response:
    vault.check(name, body.value)
    with context.store.database.read() as connection:
        vault.find(connection, workspace)  # refused when there is no such workspace
    key = context.secrets.keep_own(body.value)
    try:
        with context.store.database.write() as connection:
            before = vault.put(connection, workspace, name, key, body.content_type)
            found = vault.get(connection, workspace, name)
    except BaseException:
        context.secrets.forget(key)
        raise
    if before is not None:
        context.secrets.forget(before)
    return answer(_document(found))


@router.delete("/{name}", summary="Forget a secret", dependencies=[User])
def delete(workspace: str, name: str, context: Context) -> Response:
    with context.store.database.write() as connection:
        gone = vault.remove(connection, workspace, name)
    context.secrets.forget(gone.key)
    return answer(_document(gone))


def _document(secret: VaultSecret) -> dict[str, str | None]:
    return {
        "name": secret.name,
        "content_type": secret.content_type,
        "updated_at": timestamp(secret.updated_at),
    }
