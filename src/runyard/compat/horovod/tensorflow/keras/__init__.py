"""`import horovod.tensorflow.keras as hvd`: Horovod's interface for the Keras that TensorFlow brings."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from ...common.exceptions import HorovodInternalError
from ..compression import Compression
from ..functions import allgather_object, broadcast_global_variables, broadcast_object, broadcast_variables
from ..keras_calls import DistributedOptimizer, allgather, allreduce, broadcast, load_model_with, reducescatter
from ..mpi_ops import (
    Adasum,
    Average,
    Max,
    Min,
    ProcessSet,
    Product,
    Sum,
    barrier,
    ccl_built,
    cross_rank,
    cross_size,
    cuda_built,
    ddl_built,
    global_process_set,
    gloo_built,
    gloo_enabled,
    init,
    is_homogeneous,
    is_initialized,
    join,
    local_rank,
    local_size,
    mpi_built,
    mpi_enabled,
    mpi_threads_supported,
    nccl_built,
    rank,
    rocm_built,
    shutdown,
    size,
    start_timeline,
    stop_timeline,
)
from . import callbacks

__all__ = [
    "Adasum",
    "Average",
    "Compression",
    "DistributedOptimizer",
    "HorovodInternalError",
    "Max",
    "Min",
    "ProcessSet",
    "Product",
    "Sum",
    "allgather",
    "allgather_object",
    "allreduce",
    "barrier",
    "broadcast",
    "broadcast_global_variables",
    "broadcast_object",
    "broadcast_variables",
    "callbacks",
    "ccl_built",
    "cross_rank",
    "cross_size",
    "cuda_built",
    "ddl_built",
    "global_process_set",
    "gloo_built",
    "gloo_enabled",
    "init",
    "is_homogeneous",
    "is_initialized",
    "join",
    "load_model",
    "local_rank",
    "local_size",
    "mpi_built",
    "mpi_enabled",
    "mpi_threads_supported",
    "nccl_built",
    "rank",
    "reducescatter",
    "rocm_built",
    "shutdown",
    "size",
    "start_timeline",
    "stop_timeline",
]


def load_model(
    filepath: Any, custom_optimizers: Any = None, custom_objects: Any = None, compression: Any = Compression.none
) -> Any:
    """A saved model whose optimizer applies the gradients of all ranks."""
    return load_model_with(tf.keras.models.load_model, filepath, custom_objects, compression)
