"""azureml.train.dnn, from `runyard.sdk.estimator.frameworks` and `runyard.sdk.estimator.distribution`."""

from runyard.sdk.estimator.distribution import Gloo, Mpi, Nccl, ParameterServer
from runyard.sdk.estimator.frameworks import Chainer, PyTorch, TensorFlow

__all__ = ["Chainer", "Gloo", "Mpi", "Nccl", "ParameterServer", "PyTorch", "TensorFlow"]
