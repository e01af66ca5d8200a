"""The same work in LitServe. It looks at the annotations of what it calls, so that they must be what they say."""

import os
import sys
from typing import Any

import litserve  # type: ignore[import-not-found, unused-ignore]
from fastapi import Request

BATCH = int(os.environ.get("BATCH", "1"))


class Trivial(litserve.LitAPI):  # type: ignore[misc, unused-ignore]
    def setup(self, device: str) -> None:
        pass

    def decode_request(self, request: Request) -> Any:
        return request["data"][0]

    def predict(self, row: Any) -> float:
        return float(sum(row))

    def encode_response(self, output: Any) -> Any:
        return {"sum": output}


class Onnx(litserve.LitAPI):  # type: ignore[misc, unused-ignore]
    def setup(self, device: str) -> None:
        import onnxruntime

        self.session = onnxruntime.InferenceSession(os.environ["ONNX_MODEL"])

    def decode_request(self, request: Request) -> Any:
        import numpy

        (given,) = request["inputs"]
        return numpy.array(given["data"], numpy.float32)

    def predict(self, rows: Any) -> Any:
        (made,) = self.session.run(None, {"x": rows.reshape(-1, 784)})
        return made if BATCH > 1 else made[0]

    def encode_response(self, output: Any) -> Any:
        return {"outputs": [{"name": "y", "data": output.tolist()}]}


if __name__ == "__main__":
    kind = Onnx if "ONNX_MODEL" in os.environ else Trivial
    batch = {"max_batch_size": BATCH, "batch_timeout": 0.001} if BATCH > 1 else {}
    server = litserve.LitServer(kind(**batch), accelerator="cpu")
    server.run(port=int(sys.argv[1]), host="127.0.0.1", generate_client_file=False, log_level="warning")
