"""azureml.train: estimators, and so far only the exceptions of hyperdrive."""
