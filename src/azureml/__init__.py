"""The import paths of Azure ML's SDK v1. Everything here comes from `runyard.sdk`."""

import runyard.sdk.absent_modules  # noqa: F401  # what is not there is told of in words
