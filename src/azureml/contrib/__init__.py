"""azureml.contrib: `services` of it."""
