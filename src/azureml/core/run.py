"""azureml.core.run, from `runyard.sdk.run`."""

from runyard.sdk.run import InputDatasets, LinkOutput, Run, get_run

__all__ = ["InputDatasets", "LinkOutput", "Run", "get_run"]
