"""azureml.core.script_run, from `runyard.sdk.script_run`."""

from runyard.sdk.script_run import ScriptRun

__all__ = ["ScriptRun"]
