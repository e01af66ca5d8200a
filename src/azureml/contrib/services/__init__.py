"""azureml.contrib.services, from `runyard.serving.rawhttp`."""
