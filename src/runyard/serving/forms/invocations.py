"""MLflow's scoring protocol: `dataframe_split`, `dataframe_records`, `instances`, `inputs`, or CSV, at /invocations.

What comes in and what goes out is converted by `mlflow` itself, so that both are as with its own server.
"""

from __future__ import annotations

import io
import json
from typing import Any, Mapping

from runyard.serving.forms.query import Query, document
from runyard.serving.http.head import BadRequest
from runyard.serving.http.message import Request, Response
from runyard.serving.runtimes.base import Array, Runtime
from runyard.serving.runtimes.python_function import Invocation

PATH = "/invocations"
SPLIT, RECORDS, INSTANCES, INPUTS = "dataframe_split", "dataframe_records", "instances", "inputs"
FORMS = (SPLIT, RECORDS, INSTANCES, INPUTS)


def is_table(asked: Mapping[str, Any]) -> bool:
    """Whether a request at the scoring path is in one of the forms that MLflow alone has."""
    return SPLIT in asked or RECORDS in asked


def read(request: Request, runtime: Runtime) -> Query:
    """The query in a request. BadRequest."""
    if not hasattr(runtime, "schema"):
        raise BadRequest(404, f"{PATH} is for models of MLflow: this one is asked at /score or by /v2.")
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    try:
        given = _csv(request, runtime) if kind == "text/csv" else _json(document(request.body), runtime)
    except BadRequest:
        raise
    except Exception as error:
        raise BadRequest(400, f"The request is not what the model takes: {str(error)[:2000]}") from error
    (input_,) = runtime.signatures[runtime.default].inputs
    return Query(runtime.default, {input_.name: given}, ["predictions"], _write)


def _csv(request: Request, runtime: Any) -> Invocation:
    import pandas

    text = bytes(request.body).decode("utf-8")
    types = dict(zip(runtime.columns, runtime.schema.pandas_types())) if runtime.columns else None
    return Invocation(pandas.read_csv(io.StringIO(text), dtype=types))


def _json(asked: dict[str, Any], runtime: Any) -> Invocation:
    found = [name for name in FORMS if name in asked]
    if len(found) != 1:
        listed = ", ".join(json.dumps(name)[:40] for name in list(asked)[:5]) or "nothing"
        raise BadRequest(400, f"The body must have one of {', '.join(FORMS)}; it has {listed}.")
    params = asked.get("params")
    if params is not None and not isinstance(params, dict):
        raise BadRequest(400, "`params` must be an object: the name of each parameter, and its value.")
    from mlflow.utils import proto_json_utils

    parsers: Any = proto_json_utils
    (name,) = found
    if name in (SPLIT, RECORDS):
        orient = name.partition("_")[2]
        given = parsers.dataframe_from_parsed_json(asked[name], pandas_orient=orient, schema=runtime.schema)
    else:
        given = parsers.parse_tf_serving_input({name: asked[name]}, schema=runtime.schema)
    return Invocation(given, params)


def _write(made: Mapping[str, Array]) -> Response:
    from mlflow.utils import proto_json_utils

    writers: Any = proto_json_utils
    plain = {name: writers._get_jsonable_obj(each) for name, each in made.items()}
    return Response(json.dumps(plain, cls=writers.NumpyEncoder).encode(), failed=False)
