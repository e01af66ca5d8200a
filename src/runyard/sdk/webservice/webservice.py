"""`Webservice`: a model that answers requests. `Webservice(ws, name)` finds one, and returns an object of its class."""

from __future__ import annotations

import builtins
from importlib import import_module
from typing import TYPE_CHECKING, Any, Callable, ClassVar, Mapping, Sequence, TypeVar, cast

from runyard.contracts.services.access import hash_of, owner_token
from runyard.contracts.services.worker import USER_TOKEN_HEADER
from runyard.sdk.exceptions import WebserviceException
from runyard.sdk.webservice import wire
from runyard.sdk.webservice.deployment_configuration import checked_dict, checked_service_name
from runyard.sdk.webservice.documents import document_of, serialized
from runyard.sdk.webservice.filters import has_labels, has_model, kind_of
from runyard.sdk.webservice.old_ways import OldWays
from runyard.sdk.webservice.scoring import PATIENCE, body_of, called, result_of
from runyard.sdk.webservice.waiting import SUCCEEDED, failure, moment_of, operation, watched

if TYPE_CHECKING:
    from datetime import datetime

    from runyard.sdk.environment.environment import Environment
    from runyard.sdk.model.model import Model
    from runyard.sdk.webservice.waiting import Show
    from runyard.sdk.webservice.wire import Document
    from runyard.sdk.workspace.workspace import Workspace

_CLASSES = {
    "aci": ("runyard.sdk.webservice.aci", "AciWebservice"),
    "aks": ("runyard.sdk.webservice.aks", "AksWebservice"),
    "endpoint": ("runyard.sdk.webservice.aks_endpoint", "AksEndpoint"),
    "local": ("runyard.sdk.webservice.local", "LocalWebservice"),
}
_UNKNOWN = ("runyard.sdk.webservice.unknown", "UnknownWebservice")
KEYS = ("Primary", "Secondary")

W = TypeVar("W", bound="Webservice")


class Webservice(OldWays):
    """A service of a workspace.

    >>> service = Webservice(ws, "my-service")  # doctest: +SKIP
    >>> service.run('{"data": [[1, 2]]}')  # doctest: +SKIP
    [3]

    WebserviceException, with `WebserviceNotFound` in it, when there is none of that name. `state` and the other
    attributes are those of the last request: `update_deployment_state()` asks again.
    """

    _compute_name: ClassVar[str] = "Unknown"

    name: str
    workspace: Workspace
    compute_type: str
    state: str
    error: Any
    auth_enabled: bool
    token_auth_enabled: bool | None
    scoring_uri: str | None
    swagger_uri: str | None
    tags: dict[str, str]
    properties: dict[str, str]
    description: str | None
    created_time: datetime | None
    updated_time: datetime | None
    created_by: Any
    image: Any
    image_id: str | None
    image_digest: str | None

    _document: Document
    _credentials: str | None

    def __new__(cls: builtins.type[W], workspace: Workspace | None = None, name: str | None = None, **more: Any) -> W:
        if workspace is None or name is None:  # a copy is being made: its attributes follow
            return object.__new__(cls)
        return cls._told(workspace, wire.fetched(workspace, name))

    def __init__(self, workspace: Workspace, name: str) -> None:
        """`__new__` has done everything: the class depends on the service that was found."""

    @classmethod
    def _told(cls: builtins.type[W], workspace: Workspace, document: Document) -> W:
        """The service of a document, in its class."""
        module, name = _CLASSES.get(document["kind"], _UNKNOWN)
        kind = cast("builtins.type[Webservice]", getattr(import_module(module), name))
        if not issubclass(kind, cls):
            raise WebserviceException(
                f"The service {document['name']!r} is of the class {kind.__name__}, not {cls.__name__}. Find it with "
                f"Webservice(workspace, {document['name']!r})."
            )
        made = object.__new__(kind)
        made._credentials = None
        made._take(workspace, document)
        return made

    def _take(self, workspace: Workspace, document: Document) -> None:
        """Set all attributes from the server's document."""
        settings = document.get("settings") or {}
        self._document = document
        self.workspace = workspace
        self.name = document["name"]
        self.compute_type = self._compute_name
        self.state = document["state"]
        self.error = document.get("error")
        self.auth_enabled = settings.get("authentication") == "key"
        self.token_auth_enabled = settings.get("authentication") == "token"
        self._take_addresses(document)
        self.tags = dict(document.get("tags") or {})
        self.properties = dict(document.get("properties") or {})
        self.description = document.get("description")
        self.created_time = moment_of(document["created_at"]) if document.get("created_at") else None
        self.updated_time = moment_of(document["updated_at"]) if document.get("updated_at") else None
        self.created_by = None
        self.image = self.image_id = self.image_digest = None

    def _take_addresses(self, document: Document) -> None:
        self.scoring_uri = document.get("scoring_uri")
        self.swagger_uri = document.get("swagger_uri")

    # -- what it serves ---------------------------------------------------------------------------------------------

    @property
    def models(self) -> builtins.list[Model]:
        """The models that the service answers with."""
        from runyard.sdk.model.model import Model

        return [Model(self.workspace, id=each) for each in self._revision().get("models") or ()]

    @property
    def environment(self) -> Environment | None:
        """The environment that its script runs in; None for a service without code."""
        from runyard.sdk.environment.environment import Environment

        definition = self._document.get("definition")
        if definition:
            return Environment.from_dict(dict(definition), "the service's environment")
        name = self._revision().get("environment")
        return Environment(str(name)) if name else None

    def _revision(self) -> Mapping[str, Any]:
        """The revision that is served."""
        revisions = self._document.get("revisions") or []
        number = self._document.get("revision")
        return next((each for each in revisions if each["number"] == number), revisions[-1] if revisions else {})

    # -- finding and making -----------------------------------------------------------------------------------------

    @staticmethod
    def check_for_existing_webservice(
        workspace: Workspace,
        name: str,
        overwrite: bool = False,
        request_func: Callable[..., Any] | None = None,
        check_func: Callable[..., Any] | None = None,
    ) -> None:
        """Raise WebserviceException when the name is not allowed, or belongs to a service and `overwrite` is False."""
        checked_service_name(name)
        if not overwrite and wire.found(workspace, name) is not None:
            raise WebserviceException(
                f"WebserviceExists: there is a service {name!r} in the workspace {workspace.name!r}. Choose another "
                f"name, deploy with overwrite=True, or delete it: Webservice(workspace, {name!r}).delete()."
            )

    @staticmethod
    def list(
        workspace: Workspace,
        compute_type: str | None = None,
        image_name: str | None = None,
        image_id: str | None = None,
        model_name: str | None = None,
        model_id: str | None = None,
        tags: Sequence[Any] | None = None,
        properties: Sequence[Any] | None = None,
        image_digest: str | None = None,
    ) -> builtins.list[Webservice]:
        """The services of a workspace: of one kind (`ACI`, `AKS`, `AKSENDPOINT`, `LOCAL`), with a model, with all of
        the tags and properties (`'name'`, or `['name', 'value']`)."""
        if image_name or image_id or image_digest:  # no service has an image
            return []
        documents = wire.listed(workspace, {"kind": kind_of(compute_type)} if compute_type else None)
        return [
            Webservice._told(workspace, each)
            for each in documents
            if has_model(each, model_name, model_id)
            and has_labels(each.get("tags") or {}, tags, "tags")
            and has_labels(each.get("properties") or {}, properties, "properties")
        ]

    # -- how it stands ----------------------------------------------------------------------------------------------

    def update_deployment_state(self) -> None:
        """Fetch the service as it is now, and update the attributes."""
        self._take(self.workspace, wire.fetched(self.workspace, self.name))

    def wait_for_deployment(self, show_output: bool = False, timeout_sec: float | None = None) -> None:
        """Wait until the service is up; WebserviceException with the cause when it does not come up, or takes longer
        than `timeout_sec`."""
        if show_output:
            print(f"Tips: service.get_logs() shows what it writes; `runyard services logs -f {self.name}` follows it.")
            print("Running")
        try:
            self._await_deployment(timeout_sec, shown if show_output else None)
        finally:
            state = operation(self._document)["state"]
            if show_output:
                print(state)
            print(f'{self.compute_type} service {self.name}: the deployment has ended, operation "{state}"')
        print(
            f"  {self.scoring_uri}\n  runyard services call {self.name}   runyard services logs {self.name}", flush=True
        )

    def _await_deployment(self, timeout_sec: float | None, show: Show | None) -> None:
        """Wait and print nothing but steps; WebserviceException when the service does not come up."""
        document = watched(self.workspace, self.name, timeout_sec, show)
        self._take(self.workspace, document)
        if operation(document)["state"] != SUCCEEDED:
            raise failure(document)

    def get_logs(self, num_lines: int = 5000, init: bool = False) -> str:
        """The last lines that the service has written; with `init`, those until it was ready."""
        params = {"tail": num_lines, **({"init": True} if init else {})}
        with wire.asking(), self.workspace.service.client.stream(self._address("logs"), params) as answer:
            return answer.read().decode("utf-8", "replace")

    # -- calling it -------------------------------------------------------------------------------------------------

    def run(self, input: Any) -> Any:
        """Ask the service: a JSON text or bytes, sent as they are. Returns what the answer's JSON holds.

        WebserviceException with status and body for every other answer. A key or token that is not valid any more is
        fetched again, once.
        """
        if not self.scoring_uri:
            self.update_deployment_state()
        if not self.scoring_uri:
            raise WebserviceException(
                f"The service {self.name!r} has no scoring_uri: it is {self.state}. wait_for_deployment() waits for it."
            )
        body = body_of(input)
        answer = called(self.scoring_uri, body, self._headers(), self._patience())
        if answer.status == 401 and (self.auth_enabled or self.token_auth_enabled):
            self._credentials = None
            answer = called(self.scoring_uri, body, self._headers(), self._patience())
        return result_of(answer, self.name)

    def _headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json"}
        token = self.workspace.service.client.locator.token
        if token:
            headers[USER_TOKEN_HEADER] = owner_token(hash_of(token), self.name)
        if self._credentials is None and self.auth_enabled:
            self._credentials = self.get_keys()[0]
        elif self._credentials is None and self.token_auth_enabled:
            self._credentials = self.get_token()[0]
        if self._credentials is not None:
            headers["Authorization"] = f"Bearer {self._credentials}"
        return headers

    def _patience(self) -> float:
        allowed = (self._document.get("settings") or {}).get("scoring_timeout_ms") or 0
        return max(PATIENCE, allowed / 1000 + 60)

    # -- keys -------------------------------------------------------------------------------------------------------

    def get_keys(self) -> tuple[str, str]:
        """The two keys of the service: either is valid."""
        with wire.asking():
            told = self.workspace.service.client.get(self._address("keys"))
        return told["primary"], told["secondary"]

    def regen_key(self, key: str, set_key: str | None = None) -> None:
        """Replace one of the keys, 'Primary' or 'Secondary': by `set_key`, or by a new one."""
        chosen = next((each for each in KEYS if isinstance(key, str) and each.lower() == key.lower()), None)
        if chosen is None:
            raise WebserviceException(f"The key to replace is 'Primary' or 'Secondary', not {key!r}.")
        value = {"value": set_key} if set_key is not None else {}
        with wire.asking():
            self.workspace.service.client.post(self._address("keys"), {"key": chosen, **value})
        self._credentials = None

    def get_token(self) -> tuple[str, datetime]:
        """A token for the service, and the time from which on it should be fetched again."""
        with wire.asking():
            told = self.workspace.service.client.post(self._address("token"), {})
        return told["token"], moment_of(told["refresh_by"])

    # -- changing it ------------------------------------------------------------------------------------------------

    def update(self, *args: Any) -> None:
        """What can be changed depends on the class of the service."""
        raise NotImplementedError(f"{type(self).__name__} has no update.")

    def add_tags(self, tags: Mapping[str, str]) -> None:
        """Add tags, or set those that are there."""
        self._change({"tags": {**self.tags, **(checked_dict("tags", tags) or {})}})

    def remove_tags(self, tags: Sequence[str]) -> None:
        """Remove the tags of these names."""
        names = [tags] if isinstance(tags, str) else builtins.list(tags)
        self._change({"tags": {key: value for key, value in self.tags.items() if key not in names}})

    def add_properties(self, properties: Mapping[str, str]) -> None:
        """Add properties. One that is there stays as it is: WebserviceException for another value."""
        added = checked_dict("properties", properties) or {}
        changed = [key for key, value in added.items() if self.properties.get(key, value) != value]
        if changed:
            raise WebserviceException(f"The properties {', '.join(changed)} are set, and properties do not change.")
        self._change({"properties": {**self.properties, **added}})

    def _change(self, changes: Mapping[str, Any]) -> None:
        self._take(self.workspace, wire.changed(self.workspace, self.name, changes))

    def delete(self) -> None:
        """Stop the service and forget it. What it served stays registered."""
        try:
            with wire.asking():
                self.workspace.service.client.delete(self._address())
        except WebserviceException as error:
            if not wire.is_not_found(error):
                raise
            print(f"There is no service {self.name!r} to delete.")
        self.state = "Deleting"

    def _address(self, *parts: str) -> str:
        return wire.address(self.workspace, self.name, *parts)

    # -- as a dictionary --------------------------------------------------------------------------------------------

    def serialize(self) -> dict[str, Any]:
        """The service as a dictionary, ready for JSON; `deserialize` reads it back."""
        return serialized(self._document, self.compute_type)

    @classmethod
    def deserialize(cls: builtins.type[W], workspace: Workspace, webservice_payload: Mapping[str, Any]) -> W:
        """The service in a dictionary that `serialize` returned. No request is made."""
        return cls._told(workspace, document_of(webservice_payload))

    # -- how it looks -----------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(workspace={self.workspace.name!r}, name={self.name!r}, state={self.state!r}, "
            f"scoring_uri={self.scoring_uri!r})"
        )

    def _repr_html_(self) -> str:
        from runyard.sdk.notebook import link, table

        models = ", ".join(map(str, self._revision().get("models") or ()))
        row = (self.name, self.compute_type, self.state, models, link(self.scoring_uri or "", self.scoring_uri or ""))
        return table(("Service", "Type", "State", "Models", "Scoring URI"), [row])


def shown(text: str, end: str) -> None:
    """Print a part of a line, at once."""
    print(text, end=end, flush=True)
