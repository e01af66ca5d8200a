"""azureml.core.compute, from `runyard.sdk`. RayCompute and SlurmCompute are Runyard's own."""

from runyard.sdk.compute.aks import AksCompute
from runyard.sdk.compute.aml import AmlCompute
from runyard.sdk.compute.cluster import RayCompute, SlurmCompute
from runyard.sdk.compute.compute import ComputeTarget
from runyard.sdk.compute.instance import ComputeInstance
from runyard.sdk.compute.kubernetes import KubernetesCompute
from runyard.sdk.compute.remote import BatchCompute, RemoteCompute
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
