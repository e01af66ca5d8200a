"""azureml.data.datapath, from `runyard.sdk.datapath`."""

from runyard.sdk.datapath import DataPath, DataPathComputeBinding

__all__ = ["DataPath", "DataPathComputeBinding"]
