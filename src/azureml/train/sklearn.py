"""azureml.train.sklearn, from `runyard.sdk.estimator_frameworks`."""

from runyard.sdk.estimator_frameworks import SKLearn

__all__ = ["SKLearn"]
