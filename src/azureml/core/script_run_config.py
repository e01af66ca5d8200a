"""azureml.core.script_run_config, from `runyard.sdk.submit.script_run_config`."""

from runyard.sdk.submit.script_run_config import ScriptRunConfig, get_run_config_from_script_run, submit

__all__ = ["ScriptRunConfig", "get_run_config_from_script_run", "submit"]
