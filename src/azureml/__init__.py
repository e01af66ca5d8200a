"""The import paths of Azure ML's SDK v1. Everything here comes from `runyard.sdk`."""
