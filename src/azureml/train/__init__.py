"""azureml.train: so far only the exceptions of hyperdrive."""
