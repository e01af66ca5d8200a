"""If these fail, a script with `inference_schema`'s decorators does not run where the package is not installed."""

from __future__ import annotations

import subprocess
import sys

from runyard.serving.scripts import schemas
from runyard.serving.scripts.schema_types import StandardPythonParameterType

_USE = """
from runyard.serving.scripts import schemas
print(schemas.stand_in(), schemas.stand_in())
import inference_schema
from inference_schema.schema_decorators import input_schema, output_schema
from inference_schema.parameter_types.standard_py_parameter_type import StandardPythonParameterType as Type
from inference_schema.parameter_types.abstract_parameter_type import AbstractParameterType
from inference_schema.schema_util import is_schema_decorated

@input_schema("a", Type({"x": 1.0}))
@output_schema(Type([1]))
def run(a): return a["x"]
print(is_schema_decorated(run), run(a={"x": 2}), schemas.schema_of(run)["output"]["example"])
"""


def test_a_stand_in_takes_the_place_of_the_package() -> None:
    done = subprocess.run([sys.executable, "-c", _USE], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["True False", "True 2.0 [1]"]


def test_arguments_are_in_the_order_of_the_decorators() -> None:
    @schemas.input_schema("a", StandardPythonParameterType(1))
    @schemas.input_schema("b", StandardPythonParameterType("x"), optional=True)
    def run(a: int, b: str = "") -> str:
        return b * a

    schemas.stand_in()
    found = schemas.schema_of(run)
    assert found is not None
    assert found["input"] is not None
    assert list(found["input"]["properties"]) == ["a", "b"]
    assert found["input"]["required"] == ["a"]
    assert found["input"]["example"] == {"a": 1, "b": "x"}
    assert schemas.schema_of(lambda data: 1) is None
