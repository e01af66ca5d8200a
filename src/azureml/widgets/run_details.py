"""azureml.widgets.run_details, from `runyard.sdk.run_widget`."""

from runyard.sdk.run_widget import RunDetails

__all__ = ["RunDetails"]
