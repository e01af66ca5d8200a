"""azureml.train.hyperdrive: so far only its exceptions."""
