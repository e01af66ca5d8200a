"""azureml.widgets, from `runyard.sdk.run_widget`."""

from runyard.sdk.run_widget import RunDetails

__all__ = ["RunDetails"]
