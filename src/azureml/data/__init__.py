"""azureml.data: so far paths and references."""

from runyard.sdk.sdk_v1 import late_names

__getattr__ = late_names(__name__, {}, not_yet=("DataType", "FileDataset", "OutputFileDatasetConfig", "TabularDataset"))
