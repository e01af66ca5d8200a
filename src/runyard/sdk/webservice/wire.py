"""Requests about services: their addresses on the server, and its refusals as SDK v1's exceptions."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, Iterator, Mapping

from runyard.client.http import ClientProblem, quote
from runyard.sdk.exceptions import AzureMLException, UserErrorException, WebserviceException
from runyard.sdk.workspace.service import sdk_exception

if TYPE_CHECKING:
    from runyard.client.http import Params
    from runyard.sdk.workspace.workspace import Workspace

Document = Dict[str, Any]
"""A service as the server tells of it (docs/protocol.md)."""

FOLDER = "folder"
"""In the `launch` of a request that is not sent yet: the folder whose snapshot is to be named in it."""

NOT_FOUND = "service_not_found"
EXISTS = "service_exists"
_STATUS = {NOT_FOUND: "WebserviceNotFound", EXISTS: "WebserviceExists", "model_not_found": "ModelNotFound"}


def address(workspace: Workspace, *parts: str) -> str:
    """The address of the services of a workspace, or of what is below one."""
    return "/".join((f"/api/workspaces/{quote(workspace.name)}/services", *(quote(str(part)) for part in parts)))


@contextmanager
def asking() -> Iterator[None]:
    """Errors of a service become WebserviceException; all others stay what they are elsewhere."""
    try:
        yield
    except ClientProblem as problem:
        raise refusal(problem) from None


def refusal(problem: ClientProblem) -> AzureMLException:
    """The exception for a request that was refused, or got no response."""
    known = sdk_exception(problem)
    if type(known) is not UserErrorException:
        return known
    code = _STATUS.get(problem.code)
    words = f"{code}: {known.message}" if code else known.message
    return WebserviceException(words, status_code=problem.status or None, inner_exception=problem)


def fetched(workspace: Workspace, name: str, params: Params | None = None, timeout: float | None = None) -> Document:
    """The service of this name; WebserviceException, with WebserviceNotFound in it, when there is none."""
    with asking():
        return workspace.service.client.get(address(workspace, name), params, timeout=timeout)  # type: ignore[no-any-return]


def found(workspace: Workspace, name: str) -> Document | None:
    """The service of this name, or None."""
    try:
        return fetched(workspace, name)
    except WebserviceException as error:
        if is_not_found(error):
            return None
        raise


def listed(workspace: Workspace, params: Params | None = None) -> list[Document]:
    """The services of a workspace."""
    with asking():
        return list(workspace.service.client.get(address(workspace), params)["services"])


def created(workspace: Workspace, request: Mapping[str, Any]) -> Document:
    """Ask for a service; its work goes on after the answer."""
    return asked(workspace, "POST", address(workspace), request)


def changed(workspace: Workspace, name: str, changes: Mapping[str, Any]) -> Document:
    """Ask for a change of a service."""
    return asked(workspace, "PATCH", address(workspace, name), changes)


def asked(workspace: Workspace, method: str, target: str, request: Mapping[str, Any] | None) -> Document:
    """Send a request about a service, with the folder of its code where it has one (`launch` names it as FOLDER)."""

    def send(body: Mapping[str, Any] | None) -> Document:
        with asking():
            value = None if body is None else dict(body)
            return workspace.service.client.request(method, target, value)  # type: ignore[no-any-return]

    launch = dict((request or {}).get("launch") or {})
    folder = launch.pop(FOLDER, None)
    if request is None or folder is None:
        return send(request)

    def use(snapshot_id: str, sent: bool) -> Document:
        # Whatever used the same folder before may be deleted at this moment, and the snapshot with it: then the request
        # is refused, and made again with a snapshot that was sent for it.
        if not sent:
            workspace.service.put(f"/api/snapshots/{snapshot_id}", body=b"")
        return send({**request, "launch": {**launch, "snapshot_id": snapshot_id}})

    from runyard.sdk.snapshot.snapshot import with_snapshot

    return with_snapshot(workspace.service, Path(folder), use)


def is_not_found(error: AzureMLException) -> bool:
    """Whether the server has refused because there is no such service."""
    inner = error.inner_exception
    return isinstance(inner, ClientProblem) and inner.code == NOT_FOUND
