"""`AciWebservice`: a service for trying out, with one replica on this machine. Open by default, as in SDK v1."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Mapping, NoReturn, Sequence

from runyard.sdk.exceptions import WebserviceException
from runyard.sdk.webservice.aks_configuration import authentication
from runyard.sdk.webservice.changes import changes_of, check_any, notice_unused
from runyard.sdk.webservice.deployment_configuration import (
    WebserviceDeploymentConfiguration,
    above_zero,
    filled,
    given,
)
from runyard.sdk.webservice.requirements import ContainerResourceRequirements
from runyard.sdk.webservice.webservice import Webservice

if TYPE_CHECKING:
    from runyard.sdk.model.inference_config import InferenceConfig
    from runyard.sdk.model.model import Model
    from runyard.sdk.webservice.wire import Document
    from runyard.sdk.workspace.workspace import Workspace

_OF_AZURE = (
    *("location", "ssl_enabled", "enable_app_insights", "dns_name_label", "collect_model_data"),
    *("cmk_vault_base_url", "cmk_key_name", "cmk_key_version", "vnet_name", "subnet_name"),
)


class AciServiceDeploymentConfiguration(WebserviceDeploymentConfiguration):
    """How an AciWebservice is to run."""

    _kind = "aci"

    def __init__(
        self,
        cpu_cores: float | None = None,
        memory_gb: float | None = None,
        tags: Mapping[str, str] | None = None,
        properties: Mapping[str, str] | None = None,
        description: str | None = None,
        location: str | None = None,
        auth_enabled: bool | None = None,
        ssl_enabled: bool | None = None,
        enable_app_insights: bool | None = None,
        ssl_cert_pem_file: str | None = None,
        ssl_key_pem_file: str | None = None,
        ssl_cname: str | None = None,
        dns_name_label: str | None = None,
        primary_key: str | None = None,
        secondary_key: str | None = None,
        collect_model_data: bool | None = None,
        cmk_vault_base_url: str | None = None,
        cmk_key_name: str | None = None,
        cmk_key_version: str | None = None,
        vnet_name: str | None = None,
        subnet_name: str | None = None,
    ) -> None:
        super().__init__(AciWebservice, description, tags, properties, primary_key, secondary_key, location)
        self.cpu_cores = cpu_cores
        self.memory_gb = memory_gb
        self.auth_enabled = auth_enabled
        self.ssl_enabled = ssl_enabled
        self.enable_app_insights = enable_app_insights
        self.ssl_cert_pem_file = ssl_cert_pem_file
        self.ssl_key_pem_file = ssl_key_pem_file
        self.ssl_cname = ssl_cname
        self.dns_name_label = dns_name_label
        self.collect_model_data = collect_model_data
        self.cmk_vault_base_url = cmk_vault_base_url
        self.cmk_key_name = cmk_key_name
        self.cmk_key_version = cmk_key_version
        self.vnet_name = vnet_name
        self.subnet_name = subnet_name
        self._workers: int | None = None  # processes of the replica; a profile chooses them
        self.validate_configuration()

    def validate_configuration(self) -> None:
        """Raise WebserviceException when the settings do not go together."""
        super().validate_configuration()
        above_zero(self, ("cpu_cores", "memory_gb"))
        check_certificate(self.ssl_enabled, self.ssl_cert_pem_file, self.ssl_key_pem_file, self.ssl_cname)
        if bool(self.vnet_name) != bool(self.subnet_name):
            raise WebserviceException("vnet_name and subnet_name name one subnet: give both, or none.")
        vault = (self.cmk_vault_base_url, self.cmk_key_name, self.cmk_key_version)
        if any(vault) and not all(vault):
            raise WebserviceException(
                "cmk_vault_base_url, cmk_key_name and cmk_key_version go together: give all three, or none."
            )
        if (self.primary_key or self.secondary_key) and not self.auth_enabled:
            raise WebserviceException("primary_key and secondary_key need auth_enabled=True.")

    def _settings(self) -> dict[str, Any]:
        return given(
            cpu=self.cpu_cores,
            memory_gb=self.memory_gb,
            workers=self._workers,
            authentication=authentication(self.auth_enabled),
        )

    def _unused(self) -> list[str]:
        return filled(self, _OF_AZURE)


def check_certificate(enabled: bool | None, cert: str | None, key: str | None, cname: str | None) -> None:
    """TLS of SDK v1: a certificate, its key and the name that it is for."""
    if not enabled:
        return
    if not (cert and key and cname):
        raise WebserviceException("ssl_enabled=True needs ssl_cert_pem_file, ssl_key_pem_file and ssl_cname.")
    for file in (cert, key):
        if not os.path.isfile(file):
            raise WebserviceException(f"There is no file {file!r}.")


class AciWebservice(Webservice):
    """A service for trying out.

    >>> config = AciWebservice.deploy_configuration(cpu_cores=1, memory_gb=1, auth_enabled=True)
    >>> config.cpu_cores, config.ssl_enabled
    (1, None)
    """

    _compute_name = "ACI"

    container_resource_requirements: ContainerResourceRequirements
    enable_app_insights: bool
    cname: str | None
    location: str
    public_ip: str | None
    public_fqdn: str | None
    ssl_enabled: bool
    ssl_certificate: str | None
    ssl_key: str | None
    encryption_properties: Any
    vnet_configuration: Any

    def _take(self, workspace: Workspace, document: Document) -> None:
        super()._take(workspace, document)
        settings = document.get("settings") or {}
        self.container_resource_requirements = ContainerResourceRequirements(
            settings.get("cpu"), settings.get("memory_gb"), settings.get("gpu")
        )
        self.enable_app_insights = self.ssl_enabled = False
        self.location = "local"
        self.cname = self.public_ip = self.public_fqdn = self.ssl_certificate = self.ssl_key = None
        self.encryption_properties = self.vnet_configuration = None

    @staticmethod
    def deploy_configuration(
        cpu_cores: float | None = None,
        memory_gb: float | None = None,
        tags: Mapping[str, str] | None = None,
        properties: Mapping[str, str] | None = None,
        description: str | None = None,
        location: str | None = None,
        auth_enabled: bool | None = None,
        ssl_enabled: bool | None = None,
        enable_app_insights: bool | None = None,
        ssl_cert_pem_file: str | None = None,
        ssl_key_pem_file: str | None = None,
        ssl_cname: str | None = None,
        dns_name_label: str | None = None,
        primary_key: str | None = None,
        secondary_key: str | None = None,
        collect_model_data: bool | None = None,
        cmk_vault_base_url: str | None = None,
        cmk_key_name: str | None = None,
        cmk_key_version: str | None = None,
        vnet_name: str | None = None,
        subnet_name: str | None = None,
    ) -> AciServiceDeploymentConfiguration:
        """The configuration of a service for `Model.deploy`. What is not given is decided by the server: no key, and
        as many cores and as much memory as the machine has."""
        return AciServiceDeploymentConfiguration(**locals())

    def run(self, input_data: Any) -> Any:
        """Ask the service: a JSON text or bytes, sent as they are."""
        return super().run(input_data)

    def update(
        self,
        image: Any = None,
        tags: Mapping[str, str] | None = None,
        properties: Mapping[str, str] | None = None,
        description: str | None = None,
        auth_enabled: bool | None = None,
        ssl_enabled: bool | None = None,
        ssl_cert_pem_file: str | None = None,
        ssl_key_pem_file: str | None = None,
        ssl_cname: str | None = None,
        enable_app_insights: bool | None = None,
        models: Sequence[Model] | None = None,
        inference_config: InferenceConfig | None = None,
    ) -> None:
        """Change the service. Models, a script or settings make a new revision, which takes over when it is up; no
        request fails meanwhile. `wait_for_deployment()` waits for it."""
        check_certificate(ssl_enabled, ssl_cert_pem_file, ssl_key_pem_file, ssl_cname)
        check_any({name: value for name, value in locals().items() if name not in ("self", "__class__")})
        changes = changes_of(
            self,
            image=image,
            tags=tags,
            properties=properties,
            description=description,
            settings=given(authentication=authentication(auth_enabled)),
            models=models,
            inference_config=inference_config,
        )
        notice_unused(self.name, given(ssl_enabled=ssl_enabled, enable_app_insights=enable_app_insights))
        if changes:
            self._change(changes)

    def get_token(self) -> NoReturn:
        """Not for this class, as in SDK v1: its services take keys."""
        raise NotImplementedError("An AciWebservice takes keys, not tokens: get_keys().")
