"""`AksWebservice`: a service for production, with replicas by load, keys or tokens, and limits of requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, NamedTuple, Sequence

from runyard.sdk.webservice import wire
from runyard.sdk.webservice.aks_configuration import (
    AksServiceDeploymentConfiguration,
    aks_settings,
    check_aks,
)
from runyard.sdk.webservice.changes import changes_of, check_any, notice_unused
from runyard.sdk.webservice.deployment_configuration import given
from runyard.sdk.webservice.requirements import (
    AutoScaler,
    ContainerResourceRequirements,
    DataCollection,
    LivenessProbeRequirements,
)
from runyard.sdk.webservice.waiting import moment_of
from runyard.sdk.webservice.webservice import Webservice

if TYPE_CHECKING:
    from datetime import datetime

    from runyard.sdk.model.inference_config import InferenceConfig
    from runyard.sdk.model.model import Model
    from runyard.sdk.webservice.wire import Document
    from runyard.sdk.workspace.workspace import Workspace

__all__ = ["AksServiceAccessToken", "AksServiceDeploymentConfiguration", "AksWebservice"]


class AksServiceAccessToken(NamedTuple):
    """A token for a service, and when it is to be fetched again."""

    access_token: str
    refresh_after: datetime
    expiry_on: datetime
    token_type: str = "Bearer"


class _Chosen:
    """Settings as attributes, as the checks of a configuration want them."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.__dict__.update(settings)


class AksWebservice(Webservice):
    """A service for production. Keys are on by default; replicas come and go between 1 and 10."""

    _compute_name = "AKS"

    autoscaler: AutoScaler
    compute_name: str | None
    container_resource_requirements: ContainerResourceRequirements
    liveness_probe_requirements: LivenessProbeRequirements
    data_collection: DataCollection
    enable_app_insights: bool
    max_concurrent_requests_per_container: int | None
    max_request_wait_time: int | None
    num_replicas: int | None
    scoring_timeout_ms: int | None
    is_default: bool | None
    traffic_percentile: float | None
    version_type: str | None
    deployment_status: str
    namespace: str

    def _take(self, workspace: Workspace, document: Document) -> None:
        super()._take(workspace, document)
        settings = document.get("settings") or {}
        scale, probes = settings.get("autoscale") or {}, settings.get("probes") or {}
        self.autoscaler = AutoScaler(
            scale.get("enabled"),
            scale.get("max"),
            scale.get("min"),
            scale.get("refresh_seconds"),
            scale.get("target_utilization"),
        )
        self.container_resource_requirements = ContainerResourceRequirements(
            settings.get("cpu"), settings.get("memory_gb"), settings.get("gpu")
        )
        self.liveness_probe_requirements = LivenessProbeRequirements(
            probes.get("period_seconds"),
            probes.get("initial_delay_seconds"),
            probes.get("timeout_seconds"),
            probes.get("success_threshold"),
            probes.get("failure_threshold"),
        )
        self.data_collection = DataCollection(False, False)
        self.enable_app_insights = False
        self.compute_name = document.get("compute_target")
        self.max_concurrent_requests_per_container = settings.get("concurrency")
        self.max_request_wait_time = settings.get("queue_wait_ms")
        self.num_replicas = settings.get("replicas")
        self.scoring_timeout_ms = settings.get("scoring_timeout_ms")
        self.is_default = document.get("is_default")
        self.traffic_percentile = document.get("traffic_percentile")
        self.version_type = document.get("version_type")
        self.deployment_status = (document.get("operation") or {}).get("state") or ""
        self.namespace = "default"

    @staticmethod
    def deploy_configuration(
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
        compute_target_name: str | None = None,
        cpu_cores_limit: float | None = None,
        memory_gb_limit: float | None = None,
        blobfuse_enabled: bool | None = None,
    ) -> AksServiceDeploymentConfiguration:
        """The configuration of a service for `Model.deploy`, together with an AksCompute."""
        return AksServiceDeploymentConfiguration(**locals())

    def run(self, input_data: Any) -> Any:
        """Ask the service: a JSON text or bytes, sent as they are."""
        return super().run(input_data)

    def update(  # type: ignore[override]  # as SDK v1
        self,
        image: Any = None,
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
        namespace: str | None = None,
        token_auth_enabled: bool | None = None,
        cpu_cores_limit: float | None = None,
        memory_gb_limit: float | None = None,
        **kwargs: Any,
    ) -> None:
        """Change the service. Models, a script or settings make a new revision, which takes over when it is up; no
        request fails meanwhile. `wait_for_deployment()` waits for it."""
        arguments = {name: value for name, value in locals().items() if name not in ("self", "kwargs", "__class__")}
        check_any(arguments)
        self._change(changed_settings(self, arguments))

    def get_access_token(self) -> AksServiceAccessToken:
        """A token for the service, with the times at which it is to be fetched again and ends."""
        with wire.asking():
            told = self.workspace.service.client.post(self._address("token"), {})
        return AksServiceAccessToken(told["token"], moment_of(told["refresh_by"]), moment_of(told["expires_at"]))


_OF_THE_SERVICE = ("image", "tags", "properties", "description", "models", "inference_config")


def changed_settings(service: Webservice, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The changes that the arguments of `update` ask for, by the rules of a deployment configuration.

    Numbers of the autoscaler may be given alone where it is on already.
    """
    before = (service._document.get("settings") or {}).get("autoscale") or {}
    rules = {name: value for name, value in arguments.items() if name not in _OF_THE_SERVICE}
    is_scaled = rules.get("autoscale_enabled")
    if is_scaled is None and before.get("enabled") and rules.get("num_replicas") is None:
        is_scaled = True
    check_aks(_Chosen({**rules, "autoscale_enabled": is_scaled}))
    notice_unused(
        service.name,
        {name: rules.get(name) for name in ("collect_model_data", "enable_app_insights", "namespace")},
    )
    return changes_of(
        service,
        settings=aks_settings(_Chosen(rules)),
        **given(**{name: arguments.get(name) for name in _OF_THE_SERVICE}),
    )
