"""The same work in MLServer, as a runtime of one's own: writes its settings, and becomes `mlserver start`."""

from __future__ import annotations

import json
import os
import socket
import sys
from pathlib import Path

RUNTIME = """
import os

import numpy
from mlserver import MLModel
from mlserver.codecs import NumpyCodec
from mlserver.types import InferenceResponse


class Model(MLModel):
    async def load(self):
        self.session = None
        if "ONNX_MODEL" in os.environ:
            import onnxruntime

            self.session = onnxruntime.InferenceSession(os.environ["ONNX_MODEL"])
        return True

    async def predict(self, payload):
        rows = NumpyCodec.decode_input(payload.inputs[0])
        if self.session is None:
            made = rows.sum(axis=1)
        else:
            (made,) = self.session.run(None, {"x": rows.astype(numpy.float32)})
        return InferenceResponse(model_name=self.name, outputs=[NumpyCodec.encode_output("y", made)])
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


port, root = int(sys.argv[1]), Path(sys.argv[2])
folder = root / f"mlserver-{port}"
folder.mkdir(exist_ok=True)
(folder / "measured_runtime.py").write_text(RUNTIME)
name = "mnist" if "ONNX_MODEL" in os.environ else "trivial"
(folder / "model-settings.json").write_text(json.dumps({"name": name, "implementation": "measured_runtime.Model"}))
settings = {"http_port": port, "host": "127.0.0.1", "debug": False, "parallel_workers": 0}
settings.update(grpc_port=free_port(), metrics_port=free_port())
(folder / "settings.json").write_text(json.dumps(settings))
os.environ["PYTHONPATH"] = str(folder)
command = str(Path(sys.executable).parent / "mlserver")
os.execv(command, [command, "start", str(folder)])
