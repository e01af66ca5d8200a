"""`AksCompute`: where services of AKS run. Its settings are checked as in SDK v1, and kept: it is this machine.

Made or attached, it is a name under which `Model.deploy` finds a target: replicas, versions and their shares are the
service's own (docs/services.md). Nothing of Kubernetes is asked for.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Mapping, NoReturn

from runyard.contracts.compute import LOCAL_ENGINE, Target
from runyard.sdk.compute.arguments import chosen, whole_number
from runyard.sdk.compute.compute import ComputeTarget
from runyard.sdk.compute.configuration import (
    ComputeTargetAttachConfiguration,
    ComputeTargetProvisioningConfiguration,
    ComputeTargetUpdateConfiguration,
    check_network,
    filled,
)
from runyard.sdk.exceptions import ComputeTargetException

if TYPE_CHECKING:
    from runyard.contracts.documents import ComputeDocument
    from runyard.sdk.workspace.workspace import Workspace

PURPOSES = ("FastProd", "DevTest")
BALANCERS = ("PublicIp", "InternalLoadBalancer")
LEAST_PRODUCTION_NODES = 3
USUAL_NODES = 3
"""Nodes of a cluster where nothing is said, as in SDK v1."""


class _WithCertificate:
    """The part of a configuration that is about TLS."""

    ssl_cname: str | None
    ssl_cert_pem_file: str | None
    ssl_key_pem_file: str | None
    leaf_domain_label: str | None
    overwrite_existing_domain: bool

    def _no_certificate(self) -> None:
        self.ssl_cname = self.ssl_cert_pem_file = self.ssl_key_pem_file = self.leaf_domain_label = None
        self.overwrite_existing_domain = False

    def enable_ssl(
        self,
        ssl_cname: str | None = None,
        ssl_cert_pem_file: str | None = None,
        ssl_key_pem_file: str | None = None,
        leaf_domain_label: str | None = None,
        overwrite_existing_domain: bool = False,
    ) -> None:
        """Serve over TLS: with your own certificate, or under a name that Azure gives (leaf_domain_label)."""
        if leaf_domain_label and any((ssl_cname, ssl_cert_pem_file, ssl_key_pem_file)):
            raise ComputeTargetException("Give either leaf_domain_label, or ssl_cname with its two files.")
        self.ssl_cname = ssl_cname
        self.ssl_cert_pem_file = ssl_cert_pem_file
        self.ssl_key_pem_file = ssl_key_pem_file
        self.leaf_domain_label = leaf_domain_label
        self.overwrite_existing_domain = overwrite_existing_domain
        self._check_certificate()

    def _check_certificate(self) -> None:
        given = (self.ssl_cname, self.ssl_cert_pem_file, self.ssl_key_pem_file)
        if any(given) and not all(given):
            raise ComputeTargetException(
                "ssl_cname, ssl_cert_pem_file and ssl_key_pem_file go together: give all three, or none."
            )
        for file in (self.ssl_cert_pem_file, self.ssl_key_pem_file):
            if file and not os.path.isfile(file):
                raise ComputeTargetException(f"There is no file {file!r}.")


class AksProvisioningConfiguration(_WithCertificate, ComputeTargetProvisioningConfiguration):
    """What an AksCompute would be made from."""

    def __init__(
        self,
        agent_count: int | None,
        vm_size: str | None,
        ssl_cname: str | None,
        ssl_cert_pem_file: str | None,
        ssl_key_pem_file: str | None,
        location: str | None,
        vnet_resourcegroup_name: str | None,
        vnet_name: str | None,
        subnet_name: str | None,
        service_cidr: str | None,
        dns_service_ip: str | None,
        docker_bridge_cidr: str | None,
        cluster_purpose: str | None,
        load_balancer_type: str | None,
        load_balancer_subnet: str | None,
    ) -> None:
        super().__init__(AksCompute, location)
        self._no_certificate()
        self.agent_count = agent_count
        self.vm_size = vm_size
        self.ssl_cname = ssl_cname
        self.ssl_cert_pem_file = ssl_cert_pem_file
        self.ssl_key_pem_file = ssl_key_pem_file
        self.vnet_resourcegroup_name = vnet_resourcegroup_name
        self.vnet_name = vnet_name
        self.subnet_name = subnet_name
        self.service_cidr = service_cidr
        self.dns_service_ip = dns_service_ip
        self.docker_bridge_cidr = docker_bridge_cidr
        self.cluster_purpose = cluster_purpose
        self.load_balancer_type = load_balancer_type
        self.load_balancer_subnet = load_balancer_subnet
        self.validate_configuration()

    def validate_configuration(self) -> None:
        """Raise ComputeTargetException when the settings do not go together."""
        if self.agent_count is not None:
            self.agent_count = whole_number("agent_count", self.agent_count, least=1)
            if (self.cluster_purpose or "FastProd").lower() == "fastprod" and self.agent_count < LEAST_PRODUCTION_NODES:
                raise ComputeTargetException(
                    f"A cluster for production has {LEAST_PRODUCTION_NODES} nodes or more. For fewer, set "
                    "cluster_purpose=AksCompute.ClusterPurpose.DEV_TEST."
                )
        check_network(self.vnet_resourcegroup_name, self.vnet_name, self.subnet_name)
        network = (self.service_cidr, self.dns_service_ip, self.docker_bridge_cidr)
        if any(network) and not all(network):
            raise ComputeTargetException(
                "service_cidr, dns_service_ip and docker_bridge_cidr go together: give all three, or none."
            )
        _check_choices(self.cluster_purpose, self.load_balancer_type)
        self._check_certificate()

    def _target(self, name: str) -> Target:
        kept = filled(**{each: getattr(self, each) for each in _KEPT}, cluster_purpose=self.cluster_purpose)
        return _cluster(name, self.agent_count or USUAL_NODES, self.vm_size or "", kept)

    def _unused(self) -> list[str]:
        return sorted(filled(**{each: getattr(self, each) for each in _KEPT}))


class AksAttachConfiguration(_WithCertificate, ComputeTargetAttachConfiguration):
    """Which cluster of Azure's is meant."""

    def __init__(
        self,
        resource_group: str | None = None,
        cluster_name: str | None = None,
        resource_id: str | None = None,
        cluster_purpose: str | None = None,
        load_balancer_type: str | None = None,
        load_balancer_subnet: str | None = None,
    ) -> None:
        super().__init__(AksCompute)
        self._no_certificate()
        self.resource_group = resource_group
        self.cluster_name = cluster_name
        self.resource_id = resource_id
        self.cluster_purpose = cluster_purpose
        self.load_balancer_type = load_balancer_type
        self.load_balancer_subnet = load_balancer_subnet
        self.validate_configuration()

    def validate_configuration(self) -> None:
        """Raise ComputeTargetException when the cluster is not named, or named twice."""
        named = (self.resource_group, self.cluster_name)
        if any(named) and not all(named):
            raise ComputeTargetException("resource_group and cluster_name name one cluster: give both.")
        if bool(self.resource_id) == all(named):
            raise ComputeTargetException("Name the cluster by its resource_id, or by resource_group and cluster_name.")
        _check_choices(self.cluster_purpose, self.load_balancer_type)
        self._check_certificate()

    def _target(self, name: str) -> Target:
        named = self.resource_id or f"{self.resource_group}/{self.cluster_name}"
        return _cluster(name, USUAL_NODES, "", {"attached": named, **filled(cluster_purpose=self.cluster_purpose)})


@dataclass
class SslConfiguration:
    """The TLS settings of a cluster."""

    status: str | None = None
    cert: str | None = None
    key: str | None = None
    cname: str | None = None
    leaf_domain_label: str | None = None
    overwrite_existing_domain: bool = False
    renew: bool = False

    def serialize(self) -> dict[str, Any]:
        return {
            "status": self.status,
            "cert": self.cert,
            "key": self.key,
            "cname": self.cname,
            "leafDomainLabel": self.leaf_domain_label,
            "overwriteExistingDomain": self.overwrite_existing_domain,
            "renew": self.renew,
        }

    @staticmethod
    def deserialize(object_dict: Mapping[str, Any] | None) -> SslConfiguration | None:
        if object_dict is None:
            return None
        return SslConfiguration(
            object_dict.get("status"),
            object_dict.get("cert"),
            object_dict.get("key"),
            object_dict.get("cname"),
            object_dict.get("leafDomainLabel"),
            bool(object_dict.get("overwriteExistingDomain")),
            bool(object_dict.get("renew")),
        )

    def __repr__(self) -> str:
        return f"SslConfiguration(status={self.status!r}, cname={self.cname!r})"


class AksUpdateConfiguration(ComputeTargetUpdateConfiguration):
    """What of a cluster would be changed."""

    def __init__(
        self,
        ssl_configuration: SslConfiguration | None = None,
        load_balancer_type: str | None = None,
        load_balancer_subnet: str | None = None,
    ) -> None:
        super().__init__(AksCompute)
        self.ssl_configuration = ssl_configuration
        self.load_balancer_type = load_balancer_type
        self.load_balancer_subnet = load_balancer_subnet
        self.validate_configuration()

    def validate_configuration(self) -> None:
        """Raise ComputeTargetException when a setting is of another kind."""
        if self.ssl_configuration is not None and not isinstance(self.ssl_configuration, SslConfiguration):
            raise ComputeTargetException("ssl_configuration must be an SslConfiguration.")
        _check_choices(None, self.load_balancer_type)


@dataclass
class SystemService:
    """A service that runs on a cluster."""

    service_type: str | None
    version: str | None
    public_ip_address: str | None

    def serialize(self) -> dict[str, Any]:
        return {
            "serviceType": self.service_type,
            "version": self.version,
            "publicIpAddress": self.public_ip_address,
        }

    @staticmethod
    def deserialize(object_dict: Mapping[str, Any]) -> SystemService:
        return SystemService(
            object_dict.get("serviceType"), object_dict.get("version"), object_dict.get("publicIpAddress")
        )


_KEPT = (
    *("location", "vnet_resourcegroup_name", "vnet_name", "subnet_name", "service_cidr", "dns_service_ip"),
    *("docker_bridge_cidr", "load_balancer_type", "load_balancer_subnet", "ssl_cname", "leaf_domain_label"),
)


class AksCompute(ComputeTarget):
    """A target for services: this machine, under the name of a cluster.

    >>> aks = ComputeTarget.create(ws, "aks", AksCompute.provisioning_configuration())  # doctest: +SKIP
    >>> service = Model.deploy(ws, "birds", [model], inference_config, config, aks)  # doctest: +SKIP
    """

    _compute_type = "AKS"

    agent_count: int | None
    agent_vm_size: str
    cluster_purpose: str
    cluster_fqdn: str | None
    ssl_configuration: SslConfiguration | None
    system_services: list[SystemService]
    load_balancer_type: str | None
    load_balancer_subnet: str | None
    aks_networking_configuration: Any

    class ClusterPurpose:
        """What a cluster is for."""

        FAST_PROD = "FastProd"
        DEV_TEST = "DevTest"

    def _take(self, workspace: Workspace, document: ComputeDocument) -> None:
        super()._take(workspace, document)
        details = document["details"]
        self.agent_count = document["max_nodes"]
        self.agent_vm_size = document["vm_size"]
        self.cluster_purpose = str(details.get("cluster_purpose") or self.ClusterPurpose.FAST_PROD)
        self.is_attached = "attached" in details
        self.cluster_resource_id = str(details["attached"]) if self.is_attached else None
        self.cluster_fqdn = self.ssl_configuration = self.aks_networking_configuration = None
        self.load_balancer_type = _text(details.get("load_balancer_type"))
        self.load_balancer_subnet = _text(details.get("load_balancer_subnet"))
        self.system_services = []

    @staticmethod
    def attach(workspace: Workspace, name: str, resource_id: str) -> AksCompute:  # type: ignore[override]  # as SDK v1
        """SDK v1's old way of `ComputeTarget.attach`: a target of this name, with the id kept."""
        made = ComputeTarget.attach(workspace, name, AksCompute.attach_configuration(resource_id=resource_id))
        assert isinstance(made, AksCompute)
        return made

    @staticmethod
    def provisioning_configuration(
        agent_count: int | None = None,
        vm_size: str | None = None,
        ssl_cname: str | None = None,
        ssl_cert_pem_file: str | None = None,
        ssl_key_pem_file: str | None = None,
        location: str | None = None,
        vnet_resourcegroup_name: str | None = None,
        vnet_name: str | None = None,
        subnet_name: str | None = None,
        service_cidr: str | None = None,
        dns_service_ip: str | None = None,
        docker_bridge_cidr: str | None = None,
        cluster_purpose: str | None = None,
        load_balancer_type: str | None = None,
        load_balancer_subnet: str | None = None,
    ) -> AksProvisioningConfiguration:
        """The checked settings, for `ComputeTarget.create`."""
        return AksProvisioningConfiguration(
            agent_count,
            vm_size,
            ssl_cname,
            ssl_cert_pem_file,
            ssl_key_pem_file,
            location,
            vnet_resourcegroup_name,
            vnet_name,
            subnet_name,
            service_cidr,
            dns_service_ip,
            docker_bridge_cidr,
            cluster_purpose,
            load_balancer_type,
            load_balancer_subnet,
        )

    @staticmethod
    def attach_configuration(
        resource_group: str | None = None,
        cluster_name: str | None = None,
        resource_id: str | None = None,
        cluster_purpose: str | None = None,
        load_balancer_type: str | None = None,
        load_balancer_subnet: str | None = None,
    ) -> AksAttachConfiguration:
        """The checked settings, for `ComputeTarget.attach`."""
        return AksAttachConfiguration(
            resource_group, cluster_name, resource_id, cluster_purpose, load_balancer_type, load_balancer_subnet
        )

    def update(self, update_configuration: AksUpdateConfiguration) -> None:
        """Keep other settings of the balancer. TLS is refused: put a proxy with the certificate before the service."""
        if not isinstance(update_configuration, AksUpdateConfiguration):
            raise ComputeTargetException("update takes an AksUpdateConfiguration.")
        if update_configuration.ssl_configuration is not None:
            raise ComputeTargetException(
                "Services listen without TLS here: put a proxy that has the certificate before them."
            )
        kept = filled(
            load_balancer_type=update_configuration.load_balancer_type,
            load_balancer_subnet=update_configuration.load_balancer_subnet,
        )
        self._change(details={**self._document["details"], **kept})

    def get_credentials(self) -> NoReturn:
        """Refused: there is no cluster to log in to."""
        raise ComputeTargetException("There are no credentials: the target is this machine, not a cluster.")


def _cluster(name: str, nodes: int, vm_size: str, details: dict[str, Any]) -> Target:
    return Target(
        name=name,
        engine=LOCAL_ENGINE,
        type=AksCompute._compute_type,
        vm_size=vm_size,
        max_nodes=nodes,
        details=details,
    )


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _check_choices(purpose: str | None, balancer: str | None) -> None:
    if purpose is not None:
        chosen("cluster_purpose", purpose, PURPOSES)
    if balancer is not None:
        chosen("load_balancer_type", balancer, BALANCERS)
