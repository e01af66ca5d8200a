"""Requests about services: their addresses on the server, and its refusals as SDK v1's exceptions."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Dict, Iterator, Mapping

from runyard.client.http import ClientProblem, quote
from runyard.sdk.exceptions import AzureMLException, UserErrorException, WebserviceException
from runyard.sdk.workspace.service import sdk_exception

if TYPE_CHECKING:
    from runyard.client.http import Params
    from runyard.sdk.workspace.workspace import Workspace

Document = Dict[str, Any]
"""A service as the server tells of it (docs/protocol.md)."""

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
    with asking():
        return workspace.service.client.post(address(workspace), dict(request))  # type: ignore[no-any-return]


def changed(workspace: Workspace, name: str, changes: Mapping[str, Any]) -> Document:
    """Ask for a change of a service."""
    with asking():
        return workspace.service.client.patch(address(workspace, name), dict(changes))  # type: ignore[no-any-return]


def is_not_found(error: AzureMLException) -> bool:
    """Whether the server has refused because there is no such service."""
    inner = error.inner_exception
    return isinstance(inner, ClientProblem) and inner.code == NOT_FOUND
