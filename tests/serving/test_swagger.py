"""If these fail, tools that read a service's description cannot call it."""

from __future__ import annotations

from pathlib import Path

from tests.support.serving import ask, script_in, within

from runyard.serving.scorer import ScriptScorer
from runyard.serving.scripts import script
from runyard.serving.swagger import Described, document, users_own

SCRIPT = """
import numpy
from inference_schema.schema_decorators import input_schema, output_schema
from inference_schema.parameter_types.numpy_parameter_type import NumpyParameterType

def init():
    pass

@input_schema("data", NumpyParameterType(numpy.array([[1.5, 2.0]])))
@output_schema(NumpyParameterType(numpy.array([1.5])))
def run(data):
    return data.sum(axis=1).tolist()
"""


def test_a_script_with_a_schema_is_described_in_all_versions(tmp_path: Path) -> None:
    made = script_in(tmp_path, SCRIPT, "described.py")
    scorer = ScriptScorer(script.load(made["source_directory"], made["entry_script"]), str(tmp_path))
    with within(scorer, **made) as port:
        second = ask(port, "/swagger.json").json()
        assert second["swagger"] == "2.0"
        assert second["definitions"]["ServiceInput"]["properties"]["data"]["example"] == [[1.5, 2.0]]
        assert second["paths"]["/score"]["post"]["parameters"][0]["in"] == "body"
        assert ask(port, "/swagger.json?version=3").json()["openapi"].startswith("3.0")
        third = ask(port, "/swagger.json?version=3.1").json()
        assert third["openapi"].startswith("3.1")
        assert third["components"]["schemas"]["ServiceOutput"]["type"] == "array"
        assert ask(port, "/swagger.json?version=4").status == 404
        assert ask(port, "/score", {"data": [[1, 2], [3, 4]]}).json() == [3.0, 7.0]
        (tmp_path / "swagger.json").write_text('{"mine": 2}')
        (tmp_path / "swagger3.json").write_text('{"mine": 3}')
        assert ask(port, "/swagger.json?version=2.0").json() == {"mine": 2}
        assert ask(port, "/swagger.json?version=3.0").json() == {"mine": 3}


def test_keys_are_in_the_description(tmp_path: Path) -> None:
    described = Described("mine", "1.0")
    described.authenticated = True
    assert document(described, "2.0", "h")["securityDefinitions"]
    assert document(described, "3.0", "h")["components"]["securitySchemes"]
    assert users_own(str(tmp_path), "2.0") is None
