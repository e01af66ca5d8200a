"""`Workspace`: holds experiments and runs, on this machine's server or on one elsewhere."""

from __future__ import annotations

import builtins
import os
from typing import TYPE_CHECKING, Any, Callable, Mapping, NoReturn, TypeVar, cast

from runyard.client.http import quote
from runyard.contracts import names
from runyard.sdk.exceptions import UserErrorException, WorkspaceException
from runyard.sdk.workspace import config_file
from runyard.sdk.workspace.absent import AbsentParts, absent
from runyard.sdk.workspace.config_file import WorkspaceConfig
from runyard.sdk.workspace.service import Service, find_service, inside_a_run, problem_code

if TYPE_CHECKING:
    from runyard.contracts.documents import WorkspaceDocument
    from runyard.sdk.compute.compute import ComputeTarget, ComputeTargetProvisioningConfiguration
    from runyard.sdk.data.abstract_dataset import RegisteredDatasets
    from runyard.sdk.environment.environment import Environment
    from runyard.sdk.experiment import Experiment
    from runyard.sdk.model.model import Model
    from runyard.sdk.run.run import Run
    from runyard.sdk.webservice.webservice import Webservice
    from runyard.sdk.workspace.keyvault import Keyvault

Used = TypeVar("Used")

LOCAL = WorkspaceConfig("00000000-0000-0000-0000-000000000000", "local", "local")


class Workspace(AbsentParts):
    """A workspace, identified by its name.

    >>> ws = Workspace.from_config()  # doctest: +SKIP

    One that the server does not know yet (an old one of Azure's, named by a config.json) is created on first use.
    """

    service: Service
    _config: WorkspaceConfig
    _document: WorkspaceDocument | None

    DEFAULT_CPU_CLUSTER_NAME = "cpu-cluster"
    DEFAULT_GPU_CLUSTER_NAME = "gpu-cluster"

    def __init__(
        self,
        subscription_id: str,
        resource_group: str,
        workspace_name: str,
        auth: Any = None,
        sku: str = "basic",
        tags: Mapping[str, str] | None = None,
        *,
        _server: str | None = None,
        **kwargs: Any,
    ) -> None:
        self._begin(find_service(_server), workspace_name, subscription_id, resource_group)
        self._document = _ensured(self.service, self._config, {"tags": dict(tags)} if tags else {})

    def _begin(self, service: Service, name: str, subscription_id: str, resource_group: str) -> None:
        self.service = service
        self._config = WorkspaceConfig(subscription_id, resource_group, _name(name))
        self._document = None
        self._unasked = False  # whether the server may not know it yet
        self._engines: dict[str, tuple[float, str]] = {}  # of compute targets, and when that was asked

    @classmethod
    def _known_as(cls, service: Service, name: str, subscription_id: str, resource_group: str) -> Workspace:
        """A workspace that is known to exist: no request is made."""
        workspace = cls.__new__(cls)
        workspace._begin(service, name, subscription_id, resource_group)
        return workspace

    @classmethod
    def _from_document(cls, service: Service, document: WorkspaceDocument) -> Workspace:
        workspace = cls._known_as(service, document["name"], document["subscription_id"], document["resource_group"])
        workspace._document = document
        return workspace

    # -- finding and making -----------------------------------------------------------------------------------------

    @staticmethod
    def from_config(
        path: str | os.PathLike[str] | None = None, auth: Any = None, _logger: Any = None, _file_name: str | None = None
    ) -> Workspace:
        """The workspace in a config.json: the given file, or the first that is found from `path` (by default
        the working folder) upwards. Where there is none, the workspace `local` on this machine; inside a run, the
        run's own."""
        config = _configured(path, _file_name)
        return Workspace(config.subscription_id, config.resource_group, config.workspace_name, _server=config.server)

    @classmethod
    def _from_config_unasked(cls) -> Workspace:
        """The same with no request, for one that goes through `_made_for`."""
        config = _configured(None, None)
        service = find_service(config.server)
        workspace = cls._known_as(service, config.workspace_name, config.subscription_id, config.resource_group)
        workspace._unasked = True
        return workspace

    def _made_for(self, request: Callable[[], Used]) -> Used:
        """Make a request that needs the workspace. Where nobody has asked for it yet, and the server does not know it,
        it is created and the request made again."""
        try:
            return request()
        except WorkspaceException as refusal:
            if not self._unasked or problem_code(refusal) != "workspace_not_found":
                raise
        self._document, self._unasked = _ensured(self.service, self._config, {}), False
        return request()

    @staticmethod
    def create(
        name: str,
        auth: Any = None,
        subscription_id: str | None = None,
        resource_group: str | None = None,
        location: str | None = None,
        create_resource_group: bool = True,
        sku: str = "basic",
        tags: Mapping[str, str] | None = None,
        friendly_name: str | None = None,
        storage_account: str | None = None,
        key_vault: str | None = None,
        app_insights: str | None = None,
        container_registry: str | None = None,
        adb_workspace: str | None = None,
        primary_user_assigned_identity: str | None = None,
        cmk_keyvault: str | None = None,
        resource_cmk_uri: str | None = None,
        hbi_workspace: bool = False,
        default_cpu_compute_target: ComputeTargetProvisioningConfiguration | None = None,
        default_gpu_compute_target: ComputeTargetProvisioningConfiguration | None = None,
        private_endpoint_config: Any = None,
        private_endpoint_auto_approval: bool = True,
        exist_ok: bool = False,
        show_output: bool = True,
        user_assigned_identity_for_cmk_encryption: str | None = None,
        system_datastores_auth_mode: str = "accessKey",
        v1_legacy_mode: bool | None = None,
    ) -> Workspace:
        """Create a workspace. Arguments about resources of Azure have no meaning here and are ignored."""
        if private_endpoint_config is not None:
            absent("private endpoints", "Its server listens on this machine only, unless its operator opens it.")
        service = find_service()
        config = WorkspaceConfig(
            subscription_id or LOCAL.subscription_id, resource_group or LOCAL.resource_group, _name(name)
        )
        more = {"location": location, "friendly_name": friendly_name, "tags": dict(tags) if tags else None}
        document = _ensured(service, config, more, exist_ok)
        made = Workspace._from_document(service, document)
        made._make_default(Workspace.DEFAULT_CPU_CLUSTER_NAME, default_cpu_compute_target)
        made._make_default(Workspace.DEFAULT_GPU_CLUSTER_NAME, default_gpu_compute_target)
        return made

    @staticmethod
    def get(
        name: str,
        auth: Any = None,
        subscription_id: str | None = None,
        resource_group: str | None = None,
        location: str | None = None,
        cloud: str = "AzureCloud",
        id: str | None = None,
    ) -> Workspace:
        """The workspace of this name; WorkspaceException when there is none (`Workspace.create` creates one)."""
        service = find_service()
        return Workspace._from_document(service, service.get(f"/api/workspaces/{quote(_name(name))}"))

    @staticmethod
    def list(
        subscription_id: str | None = None, auth: Any = None, resource_group: str | None = None
    ) -> dict[str, builtins.list[Workspace]]:
        """The workspaces of a subscription by name: `{name: [Workspace, ...]}`."""
        service = find_service()
        found: dict[str, Any] = {}
        for document in cast("Any", service.get("/api/workspaces"))["workspaces"]:
            fits = subscription_id in (None, document["subscription_id"])
            if fits and resource_group in (None, document["resource_group"]):
                found.setdefault(document["name"], []).append(Workspace._from_document(service, document))
        return found

    @staticmethod
    def setup() -> NoReturn:
        """Azure's dialogue on the command line, which Runyard does not need."""
        absent("setup dialogue", "Workspace.from_config() works with no setup; `runyard up` starts the server.")

    def write_config(self, path: str | os.PathLike[str] | None = None, file_name: str | None = None) -> None:
        """Write a config.json that `Workspace.from_config` finds: into `aml_config` where that folder is, else into
        `.azureml`, below `path` (by default the working folder)."""
        server = self.service.url if self.service.home is None else None
        config = WorkspaceConfig(self.subscription_id, self.resource_group, self.name, server)
        config_file.write_config(config, path, file_name)

    # -- what it is -------------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        return self._config.workspace_name

    @property
    def subscription_id(self) -> str:
        return self._config.subscription_id

    @property
    def resource_group(self) -> str:
        return self._config.resource_group

    @property
    def location(self) -> str:
        """The location of the workspace: `local`, unless another was given when it was made."""
        return self._cached()["location"]

    @property
    def sku(self) -> str:
        return "basic"

    @property
    def tags(self) -> dict[str, str]:
        return dict(self._cached()["tags"])

    @property
    def _workspace_id(self) -> str:
        """The workspace's id, under the private name that some code reads in SDK v1."""
        return self._cached()["id"]

    @property
    def service_context(self) -> Service:
        """The connection to the server."""
        return self.service

    @property
    def discovery_url(self) -> str:
        """The address of the server."""
        return self.service.url

    def get_mlflow_tracking_uri(self, with_auth: bool = False) -> str:
        """The address for `mlflow.set_tracking_uri`: what MLflow logs then, the workspace has."""
        from runyard.sdk.workspace.tracking import tracking_uri

        return tracking_uri(self.service.client, self.name, self.service.of_run)

    def get_details(self) -> dict[str, Any]:
        """All fields of the workspace."""
        known = self._fetch()
        return {
            "id": self._config.scope,
            "name": known["name"],
            "location": known["location"],
            "type": "Microsoft.MachineLearningServices/workspaces",
            "tags": known["tags"],
            "sku": self.sku,
            "workspaceid": known["id"],
            "description": known["description"],
            "friendlyName": known["friendly_name"],
            "creationTime": known["created_at"],
            "discoveryUrl": self.service.url,
        }

    def update(
        self,
        friendly_name: str | None = None,
        description: str | None = None,
        tags: Mapping[str, str] | None = None,
        image_build_compute: str | None = None,
        service_managed_resources_settings: Any = None,
        primary_user_assigned_identity: str | None = None,
        allow_public_access_when_behind_vnet: bool | None = None,
        v1_legacy_mode: bool | None = None,
    ) -> dict[str, Any]:
        """Change the friendly name, the description or the tags; arguments about Azure are ignored."""
        change: dict[str, Any] = {"friendly_name": friendly_name, "description": description}
        change["tags"] = dict(tags) if tags is not None else None
        wanted = {key: value for key, value in change.items() if value is not None}
        self._document = self.service.patch(self._address(), wanted)
        return self.get_details()

    def delete(self, delete_dependent_resources: bool = False, no_wait: bool = False) -> None:
        """Delete the workspace permanently, with its experiments, runs and files."""
        freed = self.service.delete(self._address(), timeout=600.0)
        print(f"Deleted workspace {self.name}: {freed['runs']} runs, {freed['bytes_freed']:,} bytes freed.")

    # -- what it holds ----------------------------------------------------------------------------------------------

    @property
    def experiments(self) -> dict[str, Experiment]:
        """The experiments by name, without archived ones."""
        from runyard.sdk.experiment import Experiment

        return {experiment.name: experiment for experiment in Experiment.list(self)}

    @property
    def environments(self) -> dict[str, Environment]:
        """The environments by name, each in its latest version."""
        from runyard.sdk.environment.environment import Environment

        return Environment.list(self)

    @property
    def datasets(self) -> RegisteredDatasets:
        """The registered datasets by name, each in its latest version."""
        from runyard.sdk.data.abstract_dataset import RegisteredDatasets

        return RegisteredDatasets(self)

    @property
    def models(self) -> dict[str, Model]:
        """The models by name, each in its latest version."""
        from runyard.sdk.model.model import Model

        return {model.name: model for model in Model.list(self, latest=True)}

    @property
    def datastores(self) -> dict[str, Any]:
        """The datastores by name."""
        from runyard.sdk.datastore.known import found

        return {each.name: each for each in found(self)}

    def get_default_datastore(self) -> Any:
        """The datastore that is used where none is named: `workspaceblobstore`, unless another was chosen."""
        from runyard.sdk.datastore.datastore import Datastore

        return Datastore.get_default(self)

    def set_default_datastore(self, name: str) -> None:
        """Choose the datastore that is used where none is named."""
        from runyard.sdk.datastore.datastore import Datastore

        Datastore.get(self, name).set_as_default()

    @property
    def compute_targets(self) -> dict[str, ComputeTarget]:
        """The compute targets that were made or attached, by name. `local` always exists, and is not among them."""
        from runyard.sdk.compute.compute import ComputeTarget

        return {target.name: target for target in ComputeTarget.list(self)}

    @property
    def webservices(self) -> dict[str, Webservice]:
        """The services by name."""
        from runyard.sdk.webservice.webservice import Webservice

        return {service.name: service for service in Webservice.list(self)}

    def get_default_keyvault(self) -> Keyvault:
        """The secrets of the workspace."""
        from runyard.sdk.workspace.keyvault import Keyvault

        return Keyvault(self)

    def get_default_compute_target(self, type: str) -> ComputeTarget | None:
        """The default target for 'CPU' or 'GPU': the one named `cpu-cluster` or `gpu-cluster`, if there is one."""
        names = {"CPU": self.DEFAULT_CPU_CLUSTER_NAME, "GPU": self.DEFAULT_GPU_CLUSTER_NAME}
        if str(type).upper() not in names:
            raise UserErrorException(f"The type of a default compute target is 'CPU' or 'GPU', not {type!r}.")
        return self.compute_targets.get(names[str(type).upper()])

    def _make_default(self, name: str, configuration: ComputeTargetProvisioningConfiguration | None) -> None:
        """Create a default target, unless the workspace has it."""
        if configuration is not None and name not in self.compute_targets:
            from runyard.sdk.compute.compute import ComputeTarget

            ComputeTarget.create(self, name, configuration)

    def get_run(self, run_id: str) -> Run:
        """The run with this id."""
        from runyard.sdk.run.types import run_of

        return run_of(self, run_id)

    def __repr__(self) -> str:
        return (
            f"Workspace.create(name={self.name!r}, subscription_id={self.subscription_id!r}, "
            f"resource_group={self.resource_group!r})"
        )

    def _repr_html_(self) -> str:
        from runyard.sdk.notebook import table

        row = (self.name, self.subscription_id, self.resource_group, self._cached()["location"], self.service.url)
        return table(("Workspace", "Subscription", "Resource group", "Location", "Server"), [row])

    def _cached(self) -> WorkspaceDocument:
        return self._document if self._document is not None else self._fetch()

    def _fetch(self) -> WorkspaceDocument:
        self._document = cast("WorkspaceDocument", self.service.get(self._address()))
        return self._document

    def _address(self) -> str:
        return f"/api/workspaces/{quote(self.name)}"


def _configured(path: str | os.PathLike[str] | None, file_name: str | None) -> WorkspaceConfig:
    file = config_file.find_config(path, file_name)
    return _usual() if file is None else config_file.read_config(file)


def _usual() -> WorkspaceConfig:
    """The workspace when no file names one."""
    if not inside_a_run():
        return LOCAL
    values = (os.environ.get(f"AZUREML_ARM_{part}") for part in ("SUBSCRIPTION", "RESOURCEGROUP", "WORKSPACE_NAME"))
    subscription_id, resource_group, name = values
    return WorkspaceConfig(
        subscription_id or LOCAL.subscription_id, resource_group or LOCAL.resource_group, name or LOCAL.workspace_name
    )


def _name(name: object) -> str:
    try:
        return names.check("workspace", name)
    except names.BadName as error:
        raise UserErrorException(str(error), inner_exception=error) from None


def _ensured(
    service: Service, config: WorkspaceConfig, more: Mapping[str, Any], exist_ok: bool = True
) -> WorkspaceDocument:
    """The workspace, created if it does not exist. One idempotent request."""
    request = {
        "name": config.workspace_name,
        "subscription_id": config.subscription_id,
        "resource_group": config.resource_group,
        "exist_ok": exist_ok,
        **{key: value for key, value in more.items() if value is not None},
    }
    return cast("WorkspaceDocument", service.post("/api/workspaces", request, idempotent=exist_ok))
