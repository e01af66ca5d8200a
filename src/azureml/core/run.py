"""azureml.core.run, from `runyard.sdk.run`. Scripts ask for the two private classes to tell where they run."""

from runyard.sdk.offline import _OfflineRun
from runyard.sdk.run import InputDatasets, LinkOutput, Run, get_run
from runyard.sdk.run_context import _SubmittedRun

__all__ = ["InputDatasets", "LinkOutput", "Run", "_OfflineRun", "_SubmittedRun", "get_run"]
