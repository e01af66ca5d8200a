"""Deployment configurations of AksWebservice and AksEndpoint, with SDK v1's rules about what goes together."""

from __future__ import annotations

import re
from typing import Any, Mapping

from runyard.sdk.exceptions import WebserviceException
from runyard.sdk.webservice.deployment_configuration import (
    WebserviceDeploymentConfiguration,
    above_zero,
    checked_service_name,
    filled,
    given,
)

NAMESPACE = re.compile(r"[a-z0-9]([a-z0-9-]{,61}[a-z0-9])?", re.ASCII)
OF_SCALING = (
    "autoscale_min_replicas",
    "autoscale_max_replicas",
    "autoscale_refresh_seconds",
    "autoscale_target_utilization",
)
OF_PROBES = ("period_seconds", "initial_delay_seconds", "timeout_seconds", "success_threshold", "failure_threshold")
_ABOVE_ZERO = (
    *("cpu_cores", "memory_gb", "gpu_cores", "cpu_cores_limit", "memory_gb_limit", "num_replicas"),
    *("scoring_timeout_ms", "replica_max_concurrent_requests", "max_request_wait_time"),
    *("autoscale_max_replicas", "autoscale_refresh_seconds", "autoscale_target_utilization"),
    *("period_seconds", "timeout_seconds", "success_threshold", "failure_threshold"),
)
_OF_AZURE = ("collect_model_data", "enable_app_insights", "namespace", "blobfuse_enabled")


def check_aks(settings: Any) -> None:
    """The rules for settings of AKS, for whatever object has them as attributes."""
    above_zero(settings, _ABOVE_ZERO)
    for name in ("autoscale_min_replicas", "initial_delay_seconds"):
        value = getattr(settings, name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0):
            raise WebserviceException(f"{name} must be a number from 0 on, not {value!r}.")
    _check_scaling(settings)
    if settings.auth_enabled and settings.token_auth_enabled:
        raise WebserviceException("A service takes keys or tokens: set auth_enabled or token_auth_enabled, not both.")
    for less, more in (("cpu_cores", "cpu_cores_limit"), ("memory_gb", "memory_gb_limit")):
        least, most = getattr(settings, less), getattr(settings, more)
        if least is not None and most is not None and most < least:
            raise WebserviceException(f"{more} ({most}) is less than {less} ({least}).")
    namespace = settings.namespace
    if namespace is not None and not (isinstance(namespace, str) and NAMESPACE.fullmatch(namespace)):
        raise WebserviceException(
            f"{str(namespace)[:100]!r} is no namespace: use up to 63 lower-case letters, digits or '-', with a letter "
            "or digit first and last."
        )


def _check_scaling(settings: Any) -> None:
    enabled, replicas = settings.autoscale_enabled, settings.num_replicas
    if enabled and replicas:
        raise WebserviceException(
            "With autoscale_enabled=True the number of replicas is decided: leave out num_replicas."
        )
    if enabled is False and not replicas:
        raise WebserviceException("With autoscale_enabled=False give num_replicas, the number of replicas.")
    if not enabled:
        named = [name for name in OF_SCALING if getattr(settings, name) is not None]
        if named:
            raise WebserviceException(f"{', '.join(named)} needs autoscale_enabled=True.")
    least, most = settings.autoscale_min_replicas, settings.autoscale_max_replicas
    if least is not None and most is not None and most < least:
        raise WebserviceException(f"autoscale_max_replicas ({most}) is less than autoscale_min_replicas ({least}).")
    utilization = settings.autoscale_target_utilization
    if utilization is not None and utilization > 100:
        raise WebserviceException(f"autoscale_target_utilization is a percentage, at most 100, not {utilization!r}.")


def aks_settings(source: Any) -> dict[str, Any]:
    """The settings of AKS as the server takes them; what was not given is not in it."""
    scaling = given(
        enabled=source.autoscale_enabled,
        min=source.autoscale_min_replicas,
        max=source.autoscale_max_replicas,
        refresh_seconds=source.autoscale_refresh_seconds,
        target_utilization=source.autoscale_target_utilization,
    )
    probes = given(**{name: getattr(source, name) for name in OF_PROBES})
    return given(
        cpu=source.cpu_cores_limit or source.cpu_cores,
        memory_gb=source.memory_gb_limit or source.memory_gb,
        gpu=source.gpu_cores,
        replicas=source.num_replicas,
        autoscale=scaling or None,
        authentication=authentication(source.auth_enabled, source.token_auth_enabled),
        concurrency=source.replica_max_concurrent_requests,
        queue_wait_ms=source.max_request_wait_time,
        scoring_timeout_ms=source.scoring_timeout_ms,
        probes=probes or None,
    )


def authentication(auth_enabled: bool | None, token_auth_enabled: bool | None = None) -> str | None:
    """How callers prove themselves; None where nothing was said.

    >>> authentication(True), authentication(None, True), authentication(False), authentication(None)
    ('key', 'token', 'none', None)
    """
    if token_auth_enabled:
        return "token"
    if auth_enabled is None:
        return None
    return "key" if auth_enabled else "none"


_OF_VERSION = ("self", "__class__", "version_name", "traffic_percentile")
"""Names in the constructor of an endpoint's configuration that a service's has not."""


class AksServiceDeploymentConfiguration(WebserviceDeploymentConfiguration):
    """How a service on an AksCompute is to run."""

    _kind = "aks"

    def __init__(
        self,
        autoscale_enabled: bool | None,
        autoscale_min_replicas: int | None,
        autoscale_max_replicas: int | None,
        autoscale_refresh_seconds: int | None,
        autoscale_target_utilization: int | None,
        collect_model_data: bool | None,
        auth_enabled: bool | None,
        cpu_cores: float | None,
        memory_gb: float | None,
        enable_app_insights: bool | None,
        scoring_timeout_ms: int | None,
        replica_max_concurrent_requests: int | None,
        max_request_wait_time: int | None,
        num_replicas: int | None,
        primary_key: str | None,
        secondary_key: str | None,
        tags: Mapping[str, str] | None,
        properties: Mapping[str, str] | None,
        description: str | None,
        gpu_cores: int | None,
        period_seconds: int | None,
        initial_delay_seconds: int | None,
        timeout_seconds: int | None,
        success_threshold: int | None,
        failure_threshold: int | None,
        namespace: str | None,
        token_auth_enabled: bool | None,
        compute_target_name: str | None,
        cpu_cores_limit: float | None,
        memory_gb_limit: float | None,
        blobfuse_enabled: bool | None = None,
    ) -> None:
        from runyard.sdk.webservice.aks import AksWebservice

        super().__init__(AksWebservice, description, tags, properties, primary_key, secondary_key)
        self.autoscale_enabled = autoscale_enabled
        self.autoscale_min_replicas = autoscale_min_replicas
        self.autoscale_max_replicas = autoscale_max_replicas
        self.autoscale_refresh_seconds = autoscale_refresh_seconds
        self.autoscale_target_utilization = autoscale_target_utilization
        self.collect_model_data = collect_model_data
        self.auth_enabled = auth_enabled
        self.cpu_cores = cpu_cores
        self.cpu_cores_limit = cpu_cores_limit
        self.memory_gb = memory_gb
        self.memory_gb_limit = memory_gb_limit
        self.gpu_cores = gpu_cores
        self.enable_app_insights = enable_app_insights
        self.scoring_timeout_ms = scoring_timeout_ms
        self.replica_max_concurrent_requests = replica_max_concurrent_requests
        self.max_request_wait_time = max_request_wait_time
        self.num_replicas = num_replicas
        self.period_seconds = period_seconds
        self.initial_delay_seconds = initial_delay_seconds
        self.timeout_seconds = timeout_seconds
        self.success_threshold = success_threshold
        self.failure_threshold = failure_threshold
        self.namespace = namespace
        self.token_auth_enabled = token_auth_enabled
        self.compute_target_name = compute_target_name
        self.blobfuse_enabled = blobfuse_enabled
        self.validate_configuration()

    def validate_configuration(self) -> None:
        """Raise WebserviceException when the settings do not go together."""
        super().validate_configuration()
        check_aks(self)
        if (self.primary_key or self.secondary_key) and (self.auth_enabled is False or self.token_auth_enabled):
            raise WebserviceException("primary_key and secondary_key need auth_enabled=True, which is the default.")

    def _settings(self) -> dict[str, Any]:
        return aks_settings(self)

    def _unused(self) -> list[str]:
        return filled(self, _OF_AZURE)


class AksEndpointDeploymentConfiguration(AksServiceDeploymentConfiguration):
    """How the first version of an AksEndpoint is to run, and how many of the requests it gets."""

    _kind = "endpoint"

    def __init__(
        self,
        autoscale_enabled: bool | None,
        autoscale_min_replicas: int | None,
        autoscale_max_replicas: int | None,
        autoscale_refresh_seconds: int | None,
        autoscale_target_utilization: int | None,
        collect_model_data: bool | None,
        auth_enabled: bool | None,
        cpu_cores: float | None,
        memory_gb: float | None,
        enable_app_insights: bool | None,
        scoring_timeout_ms: int | None,
        replica_max_concurrent_requests: int | None,
        max_request_wait_time: int | None,
        num_replicas: int | None,
        primary_key: str | None,
        secondary_key: str | None,
        tags: Mapping[str, str] | None,
        properties: Mapping[str, str] | None,
        description: str | None,
        gpu_cores: int | None,
        period_seconds: int | None,
        initial_delay_seconds: int | None,
        timeout_seconds: int | None,
        success_threshold: int | None,
        failure_threshold: int | None,
        namespace: str | None,
        token_auth_enabled: bool | None,
        version_name: str | None,
        traffic_percentile: float | None,
        compute_target_name: str | None,
        cpu_cores_limit: float | None,
        memory_gb_limit: float | None,
    ) -> None:
        of_service = {name: value for name, value in locals().items() if name not in _OF_VERSION}
        self.version_name = version_name
        self.traffic_percentile = traffic_percentile
        super().__init__(**of_service)
        self.validate_endpoint_configuration()

    def validate_endpoint_configuration(self) -> None:
        """Raise WebserviceException when the version's name or share cannot be."""
        if self.version_name is not None:
            checked_service_name(self.version_name, "version of an endpoint")
        check_share(self.traffic_percentile)

    def _request(self) -> dict[str, Any]:
        version = given(version_name=self.version_name, traffic_percentile=self.traffic_percentile)
        return {**super()._request(), **version}


def check_share(percentile: object) -> None:
    """A share of the requests is a percentage."""
    if percentile is None:
        return
    number = isinstance(percentile, (int, float)) and not isinstance(percentile, bool)
    if not number or not 0 <= percentile <= 100:  # type: ignore[operator]  # it is a number
        raise WebserviceException(f"traffic_percentile is a percentage from 0 to 100, not {percentile!r}.")
