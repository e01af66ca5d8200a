"""azureml.train.sklearn, from `runyard.sdk.estimator.frameworks`."""

from runyard.sdk.estimator.frameworks import SKLearn

__all__ = ["SKLearn"]
