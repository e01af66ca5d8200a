"""What `inference_schema`'s decorators say of `run`: its arguments, its answer and their examples.

Where the service's environment has the package, it is used. Where it has not, a stand-in of the same names takes its
place (`schema_types`), so that a script that imports it runs all the same.
"""

from __future__ import annotations

import functools
import importlib.util
import inspect
import sys
from types import ModuleType
from typing import Any, Callable, Dict

from runyard.serving.scripts import schema_types

Schema = Dict[str, Any]

_ATTRIBUTE = "_runyard_schema"


def schema_of(function: Callable[..., Any]) -> dict[str, Schema | None] | None:
    """{"input": ..., "output": ...} as Swagger has it; None when no argument is described."""
    if "inference_schema" not in sys.modules:
        return None
    if hasattr(function, _ATTRIBUTE):
        held = getattr(function, _ATTRIBUTE)
        return {"input": held.get("input"), "output": held.get("output")} if held.get("input") else None
    from inference_schema import schema_util  # type: ignore[import-not-found, unused-ignore]

    if not hasattr(schema_util, "get_input_schema") or not schema_util.is_schema_decorated(function):
        return None
    given = schema_util.get_input_schema(function)
    return {"input": given, "output": schema_util.get_output_schema(function) or None} if given else None


def stand_in() -> bool:
    """Put modules in the place of the package, unless the environment has it; whether that was done."""
    if "inference_schema" in sys.modules or importlib.util.find_spec("inference_schema") is not None:
        return False
    root = _module("inference_schema", {})
    _module("inference_schema.schema_decorators", {"input_schema": input_schema, "output_schema": output_schema})
    _module("inference_schema.schema_util", {"is_schema_decorated": lambda function: hasattr(function, _ATTRIBUTE)})
    types: dict[str, dict[str, Any]] = {
        "abstract_parameter_type": {"AbstractParameterType": schema_types.ParameterType},
        "numpy_parameter_type": {"NumpyParameterType": schema_types.NumpyParameterType},
        "pandas_parameter_type": {"PandasParameterType": schema_types.PandasParameterType},
        "standard_py_parameter_type": {"StandardPythonParameterType": schema_types.StandardPythonParameterType},
    }
    _module("inference_schema.parameter_types", {})
    for name, content in types.items():
        _module(f"inference_schema.parameter_types.{name}", content)
    root.__path__ = []
    sys.modules["inference_schema.parameter_types"].__path__ = []
    return True


def _module(name: str, content: dict[str, Any]) -> ModuleType:
    module = ModuleType(name, "Runyard's stand-in for the package inference-schema.")
    module.__dict__.update(content)
    sys.modules[name] = module
    parent, _, last = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], last, module)
    return module


def input_schema(
    param_name: str,
    param_type: schema_types.ParameterType,
    convert_to_provided_type: bool = True,
    optional: bool = False,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Describe an argument of `run`; it is given as the sample's type."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        if param_name not in inspect.signature(function).parameters:
            raise ValueError(f"@input_schema names {param_name!r}, which is no parameter of {function.__name__}().")

        @functools.wraps(function)
        def converted(*args: Any, **given: Any) -> Any:
            if convert_to_provided_type and param_name in given and not (optional and given[param_name] is None):
                given[param_name] = param_type.deserialize_input(given[param_name])
            return function(*args, **given)

        held = dict(getattr(function, _ATTRIBUTE, {}))
        described = held.get("input") or {"type": "object", "required": [], "properties": {}, "example": {}}
        swagger = param_type.input_to_swagger()
        described = {
            "type": "object",
            "required": described["required"] if optional else [param_name, *described["required"]],
            "properties": {param_name: swagger, **described["properties"]},
            "example": {param_name: swagger.get("example"), **described["example"]},
        }
        held["input"] = described
        setattr(converted, _ATTRIBUTE, held)
        return converted

    return decorate


def output_schema(output_type: schema_types.ParameterType) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Describe what `run` returns."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        held = dict(getattr(function, _ATTRIBUTE, {}))
        held["output"] = output_type.input_to_swagger()

        @functools.wraps(function)
        def same(*args: Any, **given: Any) -> Any:
            return function(*args, **given)

        setattr(same, _ATTRIBUTE, held)
        return same

    return decorate
