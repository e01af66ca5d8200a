"""azureml.widgets.run_details, from `runyard.sdk.widgets.run_details`."""

from runyard.sdk.widgets.run_details import RunDetails

__all__ = ["RunDetails"]
