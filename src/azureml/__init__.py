"""The import paths of Azure ML's SDK v1. Everything here comes from `runyard.sdk`."""

import runyard.sdk.absent_modules  # noqa: F401  # missing modules of SDK v1 raise an error that explains it
