"""The same work as a scoring script, or an ONNX model, in starlette on uvicorn: what a server by hand comes to."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import uvicorn  # type: ignore[import-not-found, unused-ignore]
from starlette.applications import Starlette  # type: ignore[import-not-found, unused-ignore]
from starlette.requests import Request  # type: ignore[import-not-found, unused-ignore]
from starlette.responses import JSONResponse  # type: ignore[import-not-found, unused-ignore]
from starlette.routing import Route  # type: ignore[import-not-found, unused-ignore]

session: Any = None
if "ONNX_MODEL" in os.environ:
    import numpy
    import onnxruntime

    session = onnxruntime.InferenceSession(os.environ["ONNX_MODEL"])


async def score(request: Request) -> JSONResponse:
    return JSONResponse({"sum": sum(json.loads(await request.body())["data"][0])})


async def infer(request: Request) -> JSONResponse:
    (given,) = json.loads(await request.body())["inputs"]
    rows = numpy.array(given["data"], numpy.float32).reshape(given["shape"])
    (made,) = session.run(None, {"x": rows})
    output = {"name": "y", "shape": list(made.shape), "datatype": "FP32", "data": made.ravel().tolist()}
    return JSONResponse({"model_name": "mnist", "outputs": [output]})


routes = [Route("/score", score, methods=["POST"]), Route("/v2/models/mnist/infer", infer, methods=["POST"])]
uvicorn.run(Starlette(routes=routes), port=int(sys.argv[1]), loop="uvloop", http="httptools", access_log=False)
