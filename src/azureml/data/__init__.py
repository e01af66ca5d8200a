"""azureml.data: so far paths and references."""
