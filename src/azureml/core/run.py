"""azureml.core.run, from `runyard.sdk.run.run`. Scripts use the two private classes to find out where they run."""

from runyard.sdk.run.context import _SubmittedRun
from runyard.sdk.run.offline import _OfflineRun
from runyard.sdk.run.run import InputDatasets, LinkOutput, Run, get_run

__all__ = ["InputDatasets", "LinkOutput", "Run", "_OfflineRun", "_SubmittedRun", "get_run"]
