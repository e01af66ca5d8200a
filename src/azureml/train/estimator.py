"""azureml.train.estimator, from `runyard.sdk.estimator`."""

from runyard.sdk.estimator import Estimator, MMLBaseEstimator
from runyard.sdk.estimator_distribution import Gloo, Mpi, Nccl, ParameterServer
from runyard.sdk.estimator_run_config import MMLBaseEstimatorRunConfig

__all__ = [
    "Estimator",
    "Gloo",
    "MMLBaseEstimator",
    "MMLBaseEstimatorRunConfig",
    "Mpi",
    "Nccl",
    "ParameterServer",
]
