"""azureml.data.dataset_consumption_config, from `runyard.sdk`."""

from runyard.sdk.data.dataset_consumption import DatasetConsumptionConfig

__all__ = ["DatasetConsumptionConfig"]
