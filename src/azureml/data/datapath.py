"""azureml.data.datapath, from `runyard.sdk.data.datapath`."""

from runyard.sdk.data.datapath import DataPath, DataPathComputeBinding

__all__ = ["DataPath", "DataPathComputeBinding"]
