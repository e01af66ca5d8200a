"""azureml.train.estimator, from `runyard.sdk.estimator.estimator`."""

from runyard.sdk.estimator.distribution import Gloo, Mpi, Nccl, ParameterServer
from runyard.sdk.estimator.estimator import Estimator, MMLBaseEstimator
from runyard.sdk.estimator.run_config import MMLBaseEstimatorRunConfig

__all__ = [
    "Estimator",
    "Gloo",
    "MMLBaseEstimator",
    "MMLBaseEstimatorRunConfig",
    "Mpi",
    "Nccl",
    "ParameterServer",
]
