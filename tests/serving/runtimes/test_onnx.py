"""If these fail, an ONNX model is not served as clients of ONNX Runtime, Triton and KServe expect it."""

from __future__ import annotations

import base64
import struct
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.support.served_models import expected
from tests.support.serving import Service

ROWS = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
Made = Callable[[str], tuple[Path, Path]]


def served(made: Made, folder: Path, kind: str, **more: object) -> Service:
    path, python = made(kind)
    model = {"name": "linear", "version": 3, "path": str(path), "framework": "Onnx"}
    return Service(folder, python, models=[model], **more).ready()


@pytest.fixture(scope="module")
def service(made: Made, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with served(made, tmp_path_factory.mktemp("onnx"), "onnx", batch={"size": 16, "wait_ms": 5}) as running:
        yield running


def test_onnx_runtime_servers_form(service: Service) -> None:
    raw = base64.b64encode(struct.pack("<6f", *ROWS[0], *ROWS[1])).decode()
    answer = service.ask("/score", {"inputs": {"x": {"dims": ["2", "3"], "dataType": 1, "rawData": raw}}}).json()
    found = answer["outputs"]["y"]
    assert found["dims"] == ["2", "2"]
    assert found["dataType"] == 1
    values = struct.unpack("<4f", base64.b64decode(found["rawData"]))
    assert [list(values[:2]), list(values[2:])] == expected(ROWS)


def test_tensorflow_servings_form_and_plain_rows(service: Service) -> None:
    assert service.ask("/score", {"instances": ROWS}).json() == {"predictions": expected(ROWS)}
    assert service.ask("/v1/models/linear:predict", {"inputs": {"x": ROWS}}).json() == {"outputs": expected(ROWS)}
    assert service.ask("/score", {"data": ROWS}).json() == expected(ROWS)


def test_a_wrong_request_names_the_input_and_what_it_should_be(service: Service) -> None:
    wrong = {"inputs": [{"name": "x", "shape": [1, 2], "datatype": "FP32", "data": [1, 2]}]}
    answer = service.ask("/v2/models/linear/infer", wrong)
    assert answer.status == 400
    assert "'x'" in answer.json()["error"]
    assert "FP32 [-1, 3]" in answer.json()["error"]
    other = service.ask("/score", {"inputs": {"z": ROWS}})
    assert (other.status, "no input 'z'" in other.json()["message"]) == (400, True)
    typed = {"inputs": [{"name": "x", "shape": [1, 3], "datatype": "INT64", "data": [1, 2, 3]}]}
    assert "INT64 was sent" in service.ask("/v2/models/linear/infer", typed).json()["error"]


def test_metadata_of_both_protocols(service: Service) -> None:
    assert service.ask("/v2/health/ready").status == 200
    assert service.ask("/v2/models/linear/ready").status == 200
    assert service.ask("/v2/models/linear/versions/3").json() == {
        "name": "linear",
        "versions": ["3"],
        "platform": "onnx_onnxv1",
        "inputs": [{"name": "x", "datatype": "FP32", "shape": [-1, 3]}],
        "outputs": [{"name": "y", "datatype": "FP32", "shape": [-1, 2]}],
    }
    assert service.ask("/v2/models/other").status == 404
    assert service.ask("/v1/models/linear").json()["model_version_status"][0]["state"] == "AVAILABLE"


def test_answers_of_requests_that_go_together_are_never_swapped(service: Service) -> None:
    """Forty clients at once, each with rows of its own: each gets what belongs to its rows."""

    def one(number: int) -> bool:
        rows = [[float(number * 100 + row), 1.0, 2.0] for row in range(1 + number % 3)]
        return bool(service.ask("/score", {"instances": rows}).json() == {"predictions": expected(rows)})

    with ThreadPoolExecutor(40) as pool:
        assert all(pool.map(one, range(400)))
    numbers = service.ask("/metrics").body.decode()
    batches = next(line for line in numbers.splitlines() if line.startswith("runyard_service_batches_total"))
    assert float(batches.split()[-1]) > 0


_CLIENT = """
import sys, numpy, tritonclient.http as http
client = http.InferenceServerClient("127.0.0.1:" + sys.argv[1])
assert client.is_server_live() and client.is_server_ready() and client.is_model_ready("linear")
assert client.get_model_metadata("linear")["inputs"][0]["name"] == "x"
assert client.get_model_repository_index()[0]["name"] == "linear"
rows = numpy.array([[1, 2, 3], [4, 5, 6]], numpy.float32)
for binary in (True, False):
    given = http.InferInput("x", rows.shape, "FP32")
    given.set_data_from_numpy(rows, binary_data=binary)
    wanted = [http.InferRequestedOutput("y", binary_data=binary)]
    print(client.infer("linear", [given], outputs=wanted, request_id="7").as_numpy("y").tolist())
print(client.infer("linear", [given]).as_numpy("y").tolist())
try:
    given = http.InferInput("x", [1, 2], "FP32")
    given.set_data_from_numpy(rows[:1, :2])
    client.infer("linear", [given])
except Exception as error:
    print(error)
"""


def test_a_client_of_triton_works(service: Service, made: Made) -> None:
    python = made("onnx")[1]
    found = subprocess.run([python, "-c", _CLIENT, str(service.port)], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    first, second, third, wrong = found.stdout.splitlines()
    assert first == second == third == str(expected(ROWS))
    assert "'x'" in wrong


def test_text_goes_through_as_text(made: Made, tmp_path: Path) -> None:
    with served(made, tmp_path, "onnx-strings") as service:
        given = {"name": "text", "shape": [2], "datatype": "BYTES", "data": ["one", "zwei ü"]}
        answer = service.ask("/score/v2/models/linear/infer", {"id": "a", "inputs": [given]}).json()
        assert answer["id"] == "a"
        assert answer["outputs"][0]["data"] == ["one", "zwei ü"]
        assert service.drain() == 0


def test_a_model_of_another_framework_is_told_by_name(made: Made, tmp_path: Path) -> None:
    path, python = made("sklearn")
    wrong = {"name": "m", "version": 1, "path": str(path), "framework": "Onnx"}
    with Service(tmp_path / "a", python, models=[wrong]) as service:
        assert service.ended() == 3
        error = service.status.error
        assert error is not None
        assert "no ONNX file" in error.message
        assert "model.pkl" in error.message
    onnx = {"name": "m", "version": 1, "path": str(made("onnx")[0]), "framework": "ScikitLearn"}
    with Service(tmp_path / "b", python, models=[onnx]) as service:
        assert service.ended() == 3
        error = service.status.error
        assert error is not None
        assert "holds a model of Onnx" in error.message
        assert "model_framework='Onnx'" in error.help
