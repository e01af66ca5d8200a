"""azureml.core.script_run, from `runyard.sdk.submit.script_run`."""

from runyard.sdk.submit.script_run import ScriptRun

__all__ = ["ScriptRun"]
