"""azureml.core.compute, from `runyard.sdk`. RayCompute and SlurmCompute are Runyard's own."""

from runyard.sdk.aks_compute import AksCompute
from runyard.sdk.aml_compute import AmlCompute
from runyard.sdk.cluster_compute import RayCompute, SlurmCompute
from runyard.sdk.compute import ComputeTarget
from runyard.sdk.compute_instance import ComputeInstance
from runyard.sdk.kubernetes_compute import KubernetesCompute
from runyard.sdk.remote_compute import BatchCompute, RemoteCompute
from runyard.sdk.sdk_v1 import late_names

__all__ = [
    "AksCompute",
    "AmlCompute",
    "BatchCompute",
    "ComputeInstance",
    "ComputeTarget",
    "KubernetesCompute",
    "RayCompute",
    "RemoteCompute",
    "SlurmCompute",
]

__getattr__ = late_names(
    __name__,
    {},
    not_yet=(
        "AdlaCompute",
        "DataFactoryCompute",
        "DatabricksCompute",
        "DsvmCompute",
        "HDInsightCompute",
        "SynapseCompute",
    ),
)
