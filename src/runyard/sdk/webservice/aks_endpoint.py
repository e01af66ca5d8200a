"""`AksEndpoint`: several versions of a service behind one address, each with its share of the requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, NoReturn, Sequence

from runyard.sdk.exceptions import WebserviceException
from runyard.sdk.webservice import wire
from runyard.sdk.webservice.aks import AksWebservice, changed_settings
from runyard.sdk.webservice.aks_configuration import (
    AksEndpointDeploymentConfiguration,
    authentication,
    check_share,
)
from runyard.sdk.webservice.changes import changes_of, check_any, notice_unused
from runyard.sdk.webservice.deployment_configuration import checked_service_name, given
from runyard.sdk.webservice.waiting import operation

if TYPE_CHECKING:
    from runyard.sdk.model.inference_config import InferenceConfig
    from runyard.sdk.model.model import Model
    from runyard.sdk.webservice.wire import Document
    from runyard.sdk.workspace.workspace import Workspace

CONTROL, TREATMENT = "Control", "Treatment"
_NOT_OF_A_VERSION = ("auth_enabled", "token_auth_enabled", "namespace", "enable_app_insights")


class AksEndpoint(AksWebservice):
    """An address with versions. What the shares of the others leave of 100 % goes to the default version."""

    _compute_name = "AKSENDPOINT"

    class VersionType:
        """What a version is for: a label, and nothing else."""

        control = CONTROL
        treatment = TREATMENT

    versions: dict[str, AksWebservice]

    def _take(self, workspace: Workspace, document: Document) -> None:
        super()._take(workspace, document)
        self.versions = {each["name"]: _version(self, each) for each in document.get("versions") or ()}

    @staticmethod
    def deploy_configuration(  # type: ignore[override]  # as SDK v1
        autoscale_enabled: bool | None = None,
        autoscale_min_replicas: int | None = None,
        autoscale_max_replicas: int | None = None,
        autoscale_refresh_seconds: int | None = None,
        autoscale_target_utilization: int | None = None,
        collect_model_data: bool | None = None,
        auth_enabled: bool | None = None,
        cpu_cores: float | None = None,
        memory_gb: float | None = None,
        enable_app_insights: bool | None = None,
        scoring_timeout_ms: int | None = None,
        replica_max_concurrent_requests: int | None = None,
        max_request_wait_time: int | None = None,
        num_replicas: int | None = None,
        primary_key: str | None = None,
        secondary_key: str | None = None,
        tags: Mapping[str, str] | None = None,
        properties: Mapping[str, str] | None = None,
        description: str | None = None,
        gpu_cores: int | None = None,
        period_seconds: int | None = None,
        initial_delay_seconds: int | None = None,
        timeout_seconds: int | None = None,
        success_threshold: int | None = None,
        failure_threshold: int | None = None,
        namespace: str | None = None,
        token_auth_enabled: bool | None = None,
        version_name: str | None = None,
        traffic_percentile: float | None = None,
        compute_target_name: str | None = None,
        cpu_cores_limit: float | None = None,
        memory_gb_limit: float | None = None,
    ) -> AksEndpointDeploymentConfiguration:
        """The configuration of an endpoint for `Model.deploy`, with its first version, which is the default one."""
        return AksEndpointDeploymentConfiguration(**locals())

    def update(  # type: ignore[override]  # as SDK v1
        self,
        auth_enabled: bool | None = None,
        token_auth_enabled: bool | None = None,
        enable_app_insights: bool | None = None,
        description: str | None = None,
        tags: Mapping[str, str] | None = None,
        properties: Mapping[str, str] | None = None,
    ) -> None:
        """Change what all versions share: authentication, labels, description."""
        if auth_enabled and token_auth_enabled:
            raise WebserviceException("An endpoint takes keys or tokens: set auth_enabled or token_auth_enabled.")
        settings = given(authentication=authentication(auth_enabled, token_auth_enabled))
        changes = changes_of(self, settings=settings, description=description, tags=tags, properties=properties)
        notice_unused(self.name, {"enable_app_insights": enable_app_insights})
        if not changes and enable_app_insights is None:
            check_any({})
        if changes:
            self._credentials = None
            self._change(changes)

    def create_version(
        self,
        version_name: str,
        autoscale_enabled: bool | None = None,
        autoscale_min_replicas: int | None = None,
        autoscale_max_replicas: int | None = None,
        autoscale_refresh_seconds: int | None = None,
        autoscale_target_utilization: int | None = None,
        collect_model_data: bool | None = None,
        cpu_cores: float | None = None,
        memory_gb: float | None = None,
        scoring_timeout_ms: int | None = None,
        replica_max_concurrent_requests: int | None = None,
        max_request_wait_time: int | None = None,
        num_replicas: int | None = None,
        tags: Mapping[str, str] | None = None,
        properties: Mapping[str, str] | None = None,
        description: str | None = None,
        models: Sequence[Model] | None = None,
        inference_config: InferenceConfig | None = None,
        gpu_cores: int | None = None,
        period_seconds: int | None = None,
        initial_delay_seconds: int | None = None,
        timeout_seconds: int | None = None,
        success_threshold: int | None = None,
        failure_threshold: int | None = None,
        traffic_percentile: float | None = None,
        is_default: bool | None = None,
        is_control_version_type: bool | None = None,
        cpu_cores_limit: float | None = None,
        memory_gb_limit: float | None = None,
    ) -> None:
        """Add a version, with its share of the requests. `wait_for_deployment()` waits for it."""
        arguments = {name: value for name, value in locals().items() if name not in ("self", "version_name")}
        checked_service_name(version_name, "version of an endpoint")
        self._ask("POST", version_name, self._of_version(arguments))

    def update_version(
        self,
        version_name: str,
        autoscale_enabled: bool | None = None,
        autoscale_min_replicas: int | None = None,
        autoscale_max_replicas: int | None = None,
        autoscale_refresh_seconds: int | None = None,
        autoscale_target_utilization: int | None = None,
        collect_model_data: bool | None = None,
        cpu_cores: float | None = None,
        memory_gb: float | None = None,
        scoring_timeout_ms: int | None = None,
        replica_max_concurrent_requests: int | None = None,
        max_request_wait_time: int | None = None,
        num_replicas: int | None = None,
        tags: Mapping[str, str] | None = None,
        properties: Mapping[str, str] | None = None,
        description: str | None = None,
        models: Sequence[Model] | None = None,
        inference_config: InferenceConfig | None = None,
        gpu_cores: int | None = None,
        period_seconds: int | None = None,
        initial_delay_seconds: int | None = None,
        timeout_seconds: int | None = None,
        success_threshold: int | None = None,
        failure_threshold: int | None = None,
        traffic_percentile: float | None = None,
        is_default: bool | None = None,
        is_control_version_type: bool | None = None,
        cpu_cores_limit: float | None = None,
        memory_gb_limit: float | None = None,
    ) -> None:
        """Change a version: its share, its models, its settings. Making one the default or the control ends that of
        the others."""
        arguments = {name: value for name, value in locals().items() if name not in ("self", "version_name")}
        check_any(arguments)
        self._ask("PATCH", self._known(version_name), self._of_version(arguments))

    def delete_version(self, version_name: str) -> None:
        """Remove a version. Its share goes to the default version, which itself cannot be removed."""
        self._ask("DELETE", self._known(version_name), None)

    def _known(self, version_name: str) -> str:
        if not version_name or not isinstance(version_name, str):
            raise WebserviceException(f"version_name is required. The endpoint {self.name!r} has {self._named()}.")
        if version_name not in self.versions:
            self.update_deployment_state()
        if version_name not in self.versions:
            raise WebserviceException(
                f"The endpoint {self.name!r} has no version {version_name[:100]!r}: it has {self._named()}."
            )
        return version_name

    def _named(self) -> str:
        return ", ".join(sorted(self.versions)) or "none"

    def _of_version(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        check_share(arguments["traffic_percentile"])
        whole = {**dict.fromkeys(_NOT_OF_A_VERSION), **arguments}
        own = ("traffic_percentile", "is_default", "is_control_version_type")
        changes = changed_settings(self, {name: value for name, value in whole.items() if name not in own})
        shares = given(
            traffic_percentile=arguments["traffic_percentile"],
            is_default=arguments["is_default"],
            is_control=arguments["is_control_version_type"],
        )
        return {**changes, **shares}

    def _ask(self, method: str, version_name: str, body: Mapping[str, Any] | None) -> None:
        document = wire.asked(self.workspace, method, self._address("versions", version_name), body)
        self._take(self.workspace, document)

    def serialize(self) -> dict[str, Any]:
        """The endpoint as a dictionary, with its versions."""
        return {**super().serialize(), "versions": {name: each.serialize() for name, each in self.versions.items()}}


class _Version(AksWebservice):
    """A version of an endpoint. It is asked and changed through the endpoint."""

    _endpoint: AksEndpoint

    def update_deployment_state(self) -> None:
        self._endpoint.update_deployment_state()
        self._document = self._endpoint.versions[self.name]._document
        self._take(self.workspace, self._document)

    def wait_for_deployment(self, show_output: bool = False, timeout_sec: float | None = None) -> None:
        self._endpoint.wait_for_deployment(show_output, timeout_sec)
        self.update_deployment_state()

    def update(self, *args: Any, **changes: Any) -> NoReturn:
        raise WebserviceException(self._through("update_version"))

    def delete(self) -> NoReturn:
        raise WebserviceException(self._through("delete_version"))

    def _through(self, call: str) -> str:
        return f"{self.name!r} is a version of the endpoint {self._endpoint.name!r}: endpoint.{call}({self.name!r})."

    def _address(self, *parts: str) -> str:
        return wire.address(self.workspace, self._endpoint.name, *parts)


def _version(endpoint: AksEndpoint, told: Mapping[str, Any]) -> AksWebservice:
    """A version as SDK v1 shows it: a service of its own."""
    whole = endpoint._document
    revision: Mapping[str, Any] = next(
        (each for each in whole.get("revisions") or () if each["number"] == told.get("revision")), {}
    )
    document = {
        **whole,
        "name": told["name"],
        "kind": "aks",
        "settings": {**(whole.get("settings") or {}), **(revision.get("settings") or {})},
        "revision": told.get("revision"),
        "versions": [],
        "operation": operation(whole),
        "traffic_percentile": told.get("traffic"),
        "is_default": bool(told.get("default")),
        "version_type": CONTROL if told.get("control") else TREATMENT,
    }
    made: _Version = object.__new__(_Version)
    made._credentials = None
    made._endpoint = endpoint
    made._take(endpoint.workspace, document)
    return made
