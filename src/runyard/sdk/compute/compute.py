"""`ComputeTarget`: where runs can be executed, as registered in the workspace. Its subclasses can do more."""

from __future__ import annotations

import builtins
import time
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, Callable, ClassVar, Iterator, Mapping, NoReturn, TypeVar, cast

from runyard.client.http import ClientProblem, quote
from runyard.contracts.compute import LOCAL, LOCAL_ENGINE
from runyard.sdk.compute.configuration import (
    ComputeTargetAttachConfiguration,
    ComputeTargetProvisioningConfiguration,
    ComputeTargetUpdateConfiguration,
)
from runyard.sdk.compute.documents import document_of, sent, serialized
from runyard.sdk.exceptions import ComputeTargetException, UserErrorException
from runyard.sdk.notices import notice
from runyard.sdk.workspace.service import sdk_exception

if TYPE_CHECKING:
    from runyard.contracts.compute import Target
    from runyard.contracts.documents import ComputeDocument
    from runyard.sdk.compute.configuration import _Configuration
    from runyard.sdk.workspace.workspace import Workspace

__all__ = [
    "ComputeTarget",
    "ComputeTargetAttachConfiguration",
    "ComputeTargetProvisioningConfiguration",
    "ComputeTargetUpdateConfiguration",
]

RESERVED = ("amlcompute", LOCAL, "containerinstance")
SUCCEEDED, FAILED, CANCELED = "Succeeded", "Failed", "Canceled"
ENDED = (SUCCEEDED, FAILED, CANCELED)
NOT_FOUND = "compute_not_found"

_CLASSES = {
    "AKS": ("runyard.sdk.compute.aks", "AksCompute"),
    "AmlCompute": ("runyard.sdk.compute.aml", "AmlCompute"),
    "ComputeInstance": ("runyard.sdk.compute.instance", "ComputeInstance"),
}
_CLUSTERS = "runyard.sdk.compute.cluster"

C = TypeVar("C", bound="ComputeTarget")


class ComputeTarget:
    """A compute target of a workspace. `ComputeTarget(ws, name)` finds one, and returns an object of its class.

    >>> target = ComputeTarget(ws, "gpu-cluster")  # doctest: +SKIP
    >>> type(target).__name__  # doctest: +SKIP
    'AmlCompute'

    ComputeTargetException, with `ComputeTargetNotFound` in it, when there is none of that name.
    """

    _compute_type: ClassVar[str] = "ComputeTarget"

    id: str
    name: str
    location: str
    type: str
    tags: dict[str, str]
    description: str | None
    created_on: str | None
    modified_on: str | None
    provisioning_state: str
    provisioning_errors: builtins.list[dict[str, Any]] | None
    cluster_resource_id: str | None
    cluster_location: str
    workspace: Workspace
    is_attached: bool

    _document: ComputeDocument

    def __new__(cls: builtins.type[C], workspace: Workspace | None = None, name: str | None = None) -> C:
        if workspace is None or name is None:  # a copy is being made: its attributes follow
            return object.__new__(cls)
        return cls._told(workspace, _fetched(workspace, name))

    def __init__(self, workspace: Workspace, name: str) -> None:
        """`__new__` has done everything: the class depends on the target that was found."""

    @classmethod
    def _told(cls: builtins.type[C], workspace: Workspace, document: ComputeDocument) -> C:
        kind = _class_of(document)
        if not issubclass(kind, cls):
            raise ComputeTargetException(
                f"The compute target {document['name']!r} is of the type {document['type']!r}, which is not "
                f"{cls.__name__}. Find it with ComputeTarget(workspace, {document['name']!r})."
            )
        made = object.__new__(kind)
        made._take(workspace, document)
        return made

    def _take(self, workspace: Workspace, document: ComputeDocument) -> None:
        """Set all attributes from the server's document."""
        details = document["details"]
        self.workspace = workspace
        self._document = document
        self.id = f"{workspace._config.scope}/computes/{document['name']}"
        self.name = document["name"]
        self.type = document["type"]
        self.location = self.cluster_location = str(details.get("location") or "local")
        self.tags = dict(details.get("tags") or {})
        self.description = details.get("description")
        self.created_on = document["created_at"] or None
        self.modified_on = document["modified_at"] or None
        self.provisioning_state = document["provisioning_state"]
        self.provisioning_errors = [{"error": dict(error)} for error in document["status"]["errors"]] or None
        self.cluster_resource_id = None
        self.is_attached = False

    # -- finding and making -----------------------------------------------------------------------------------------

    @staticmethod
    def create(
        workspace: Workspace, name: str, provisioning_configuration: ComputeTargetProvisioningConfiguration
    ) -> ComputeTarget:
        """Make a target. It takes runs from now on; `wait_for_completion` waits for its first nodes."""
        if not isinstance(provisioning_configuration, ComputeTargetProvisioningConfiguration):
            raise ComputeTargetException(
                "create takes a provisioning configuration, such as AmlCompute.provisioning_configuration(max_nodes=4)"
                f", not a {type(provisioning_configuration).__name__}. A cluster that is there is attached."
            )
        return _made(workspace, name, provisioning_configuration)

    @staticmethod
    def attach(
        workspace: Workspace, name: str, attach_configuration: ComputeTargetAttachConfiguration
    ) -> ComputeTarget:
        """Attach an existing cluster: RayCompute.attach_configuration, SlurmCompute.attach_configuration."""
        if not isinstance(attach_configuration, ComputeTargetAttachConfiguration):
            raise ComputeTargetException(
                "attach takes an attach configuration, such as RayCompute.attach_configuration(address='head:6379'), "
                f"not a {type(attach_configuration).__name__}. What is not there yet is made with create."
            )
        return _made(workspace, name, attach_configuration)

    @staticmethod
    def list(workspace: Workspace) -> builtins.list[ComputeTarget]:
        """The targets that were made or attached, by name. `local`, which always exists, is not among them."""
        with _asking():
            told = workspace.service.client.get(_address(workspace))
        return [ComputeTarget._told(workspace, each) for each in told["targets"] if each["name"] != LOCAL]

    # -- how it stands ----------------------------------------------------------------------------------------------

    def refresh_state(self) -> None:
        """Fetch the target's current state from the server, and update the attributes."""
        self._take(self.workspace, _fetched(self.workspace, self.name))

    def get(self) -> ComputeTarget:
        """The current target, as another object."""
        return ComputeTarget._told(self.workspace, _fetched(self.workspace, self.name))

    def get_status(self) -> Any:
        """The provisioning state: `Succeeded`. Some classes return more."""
        self.refresh_state()
        return self.provisioning_state

    def wait_for_completion(self, show_output: bool = False, is_delete_operation: bool = False) -> None:
        """Wait until the target is made, or deleted; ComputeTargetException when that fails."""
        if is_delete_operation:
            self._wait_until_gone(show_output)
            return
        self._wait(lambda: self.provisioning_state in ENDED, show_output)
        if self.provisioning_state != SUCCEEDED:
            raise ComputeTargetException(
                f"The compute target {self.name!r} ended as {self.provisioning_state}. {self.provisioning_errors or ''}"
            )

    # -- changing it ------------------------------------------------------------------------------------------------

    def delete(self) -> None:
        """Remove the target from the workspace. Refused while runs are queued or active on it."""
        with _asking():
            self.workspace.service.client.delete(_address(self.workspace, self.name))
        self.workspace._engines.pop(self.name, None)
        self.provisioning_state = "Deleting"

    def detach(self) -> None:
        """Remove an attached target from the workspace; the cluster itself stays as it is."""
        self.delete()

    def _change(self, **changes: object) -> None:
        with _asking():
            document = self.workspace.service.client.patch(_address(self.workspace, self.name), changes)
        self._take(self.workspace, cast("ComputeDocument", document))

    def _cannot_detach(self) -> NoReturn:
        raise ComputeTargetException(
            f"{self.name!r} was made by Runyard, not attached, so it cannot be detached: delete() removes it."
        )

    # -- as a dictionary --------------------------------------------------------------------------------------------

    def serialize(self) -> dict[str, Any]:
        """The target as a dictionary, ready for JSON; `deserialize` reads it back."""
        told = serialized(self._document, self.id, self.location)
        told["properties"]["provisioningState"] = self.provisioning_state
        return told

    @staticmethod
    def deserialize(workspace: Workspace, object_dict: Mapping[str, Any]) -> ComputeTarget:
        """The target in a dictionary that `serialize` returned. No request is made."""
        return ComputeTarget._told(workspace, document_of(object_dict))

    # -- how it looks -----------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return f"{type(self).__name__}(workspace={self.workspace.name!r}, name={self.name!r}, type={self.type!r})"

    def _repr_html_(self) -> str:
        from runyard.sdk.notebook import table

        document = self._document
        most = "as many as it has" if document["max_nodes"] is None else document["max_nodes"]
        nodes = f"{document['status']['current_nodes']} of {document['min_nodes']} to {most}"
        row = (self.name, self.type, document["vm_size"], nodes, self.provisioning_state)
        return table(("Compute target", "Type", "Size", "Nodes", "State"), [row])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComputeTarget) and (other.id, other.name) == (self.id, self.name)

    def __hash__(self) -> int:
        return hash(self.id)

    # -- waiting ----------------------------------------------------------------------------------------------------

    def _wait(
        self,
        done: Callable[[], bool],
        show_output: bool,
        say: Callable[[], str] | None = None,
        deadline: float | None = None,
    ) -> bool:
        """Refresh until `done`, and print the target's state whenever it changes. False: timeout."""
        said, pause = "", 0.05
        while True:
            self.refresh_state()
            words = say() if say is not None else self.provisioning_state
            if show_output and words != said:
                print(words, flush=True)
                said = words
            if done():
                return True
            if deadline is not None and time.monotonic() > deadline:
                return False
            time.sleep(pause)
            pause = min(pause * 1.5, 2.0)

    def _wait_until_gone(self, show_output: bool, deadline: float | None = None) -> bool:
        pause = 0.05
        while _still_there(self.workspace, self.name):
            if deadline is not None and time.monotonic() > deadline:
                return False
            time.sleep(pause)
            pause = min(pause * 1.5, 2.0)
        if show_output:
            print(f"The compute target {self.name!r} is gone.", flush=True)
        return True


def _class_of(document: ComputeDocument) -> type[ComputeTarget]:
    if document["engine"] != LOCAL_ENGINE:
        return cast("type[ComputeTarget]", import_module(_CLUSTERS).class_of(document["engine"]))
    if document["type"] not in _CLASSES:
        return ComputeTarget
    module, name = _CLASSES[document["type"]]
    return cast("type[ComputeTarget]", getattr(import_module(module), name))


def _made(workspace: Workspace, name: str, configuration: _Configuration) -> ComputeTarget:
    if not isinstance(name, str) or name.lower() in RESERVED:
        raise UserErrorException(f"{name!r} cannot be the name of a compute target of your own. Choose another name.")
    configuration.validate_configuration()
    target: Target = configuration._target(name)
    with _asking():
        document = workspace.service.client.post(_address(workspace), sent(target))
    unused = configuration._unused()
    if unused:
        notice(f"The compute target {name!r} keeps {', '.join(unused)}, which has no effect on machines of your own.")
    return ComputeTarget._told(workspace, cast("ComputeDocument", document))


def _fetched(workspace: Workspace, name: str) -> ComputeDocument:
    with _asking():
        return cast("ComputeDocument", workspace.service.client.get(_address(workspace, name)))


def _still_there(workspace: Workspace, name: str) -> bool:
    try:
        workspace.service.client.get(_address(workspace, name))
    except ClientProblem as problem:
        if problem.code == NOT_FOUND:
            return False
        raise _refusal(problem) from None
    return True


def _address(workspace: Workspace, *parts: str) -> str:
    return "/".join((f"/api/workspaces/{quote(workspace.name)}/compute", *(quote(str(part)) for part in parts)))


@contextmanager
def _asking() -> Iterator[None]:
    try:
        yield
    except ClientProblem as problem:
        raise _refusal(problem) from None


def _refusal(problem: ClientProblem) -> Exception:
    """Errors of the target become ComputeTargetException; all others stay what they are elsewhere."""
    known = sdk_exception(problem)
    if not isinstance(known, UserErrorException) or type(known) is not UserErrorException:
        away = problem.code == "engine_away"
        return ComputeTargetException(known.message, inner_exception=problem) if away else known
    words = f"ComputeTargetNotFound: {known.message}" if problem.code == NOT_FOUND else known.message
    return ComputeTargetException(words, inner_exception=problem)
