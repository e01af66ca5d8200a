"""azureml.train.dnn, from `runyard.sdk.estimator_frameworks` and `runyard.sdk.estimator_distribution`."""

from runyard.sdk.estimator_distribution import Gloo, Mpi, Nccl, ParameterServer
from runyard.sdk.estimator_frameworks import Chainer, PyTorch, TensorFlow

__all__ = ["Chainer", "Gloo", "Mpi", "Nccl", "ParameterServer", "PyTorch", "TensorFlow"]
