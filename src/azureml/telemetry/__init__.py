"""azureml.telemetry, from `runyard.sdk.diagnostics`."""

from runyard.sdk.diagnostics import set_diagnostics_collection

__all__ = ["set_diagnostics_collection"]
