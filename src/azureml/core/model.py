"""azureml.core.model, from `runyard.sdk.model`."""

from runyard.sdk.model.inference_config import InferenceConfig
from runyard.sdk.model.model import Model
from runyard.sdk.model.package import ModelPackage

__all__ = ["InferenceConfig", "Model", "ModelPackage"]
