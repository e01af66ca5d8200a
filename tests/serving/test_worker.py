"""If these fail, a script that cannot be loaded is not told with its line, or does not find what it needs."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.serving import Service, script_in

GOOD = "def init():\n    pass\ndef run(data):\n    return data\n"


@pytest.mark.parametrize(
    ("text", "type", "line", "told", "help"),
    [
        ("def init():\n    pass\ndef run(data)\n", "SyntaxError", 3, "expected ':'", "correct the line"),
        ("import nothing_here\n" + GOOD, "ModuleNotFoundError", 1, "nothing_here", "add_pip_package('nothing_here')"),
        (
            "def init():\n    open('nowhere')\ndef run(data): pass\n",
            "FileNotFoundError",
            2,
            "nowhere",
            "AZUREML_MODEL_DIR",
        ),
        ("def run(data): pass\n", "CannotServe", 0, "no function init()", "init(), which loads the model"),
        ("def init(): pass\n", "CannotServe", 0, "no function run()", "run(data)"),
        ("def init(): pass\ndef run(*data): pass\n", "CannotServe", 0, "*data", "plain parameters"),
        ("import sys\ndef init():\n    sys.exit(1)\ndef run(data): pass\n", "SystemExit", 3, "1", ""),
    ],
)
def test_what_is_wrong_with_a_script(tmp_path: Path, text: str, type: str, line: int, told: str, help: str) -> None:
    made = script_in(tmp_path / "source", text)
    with Service(tmp_path / "run", **made) as service:
        assert service.ended() == 3
        status = service.status
        assert (status.state, status.workers) == ("failed", [])
        error = status.error
        assert error is not None
        assert (error.type, error.line) == (type, line)
        assert told in error.message
        assert help in error.help
        assert error.message in service.log()


def test_what_a_script_finds_around_it(tmp_path: Path) -> None:
    text = """
import os
import beside
from azureml.contrib.services.aml_request import AMLRequest, rawhttp
from azureml.contrib.services.aml_response import AMLResponse

def init():
    print("said by init")

@rawhttp
def run(request, request_headers):
    print("said by run")
    names = ("AML_APP_ROOT", "AZUREML_MODEL_DIR", "AZUREML_ENTRY_SCRIPT", "SERVICE_NAME")
    found = {name: os.environ[name] for name in names}
    return AMLResponse({**found, "here": os.getcwd(), "host": "Host" in request_headers}, 200, json_str=True)
"""
    made = script_in(tmp_path / "source", text)
    (tmp_path / "source" / "beside.py").write_text("")
    model = {"name": "m", "version": 1, "path": str(tmp_path / "azureml-models" / "m" / "1")}
    with Service(tmp_path / "run", models=[model], **made).ready() as service:
        assert service.ask("/score", {}).json() == {
            "AML_APP_ROOT": made["app_root"],
            "AZUREML_MODEL_DIR": model["path"],
            "AZUREML_ENTRY_SCRIPT": "score.py",
            "SERVICE_NAME": "tested",
            "here": made["app_root"],
            "host": True,
        }
        assert service.drain() == 0
        log = service.log()
        assert "said by init\n" in log
        assert "said by run\n" in log
        assert '"path": "/score", "status": 200' in log


def test_a_call_that_does_not_end_does_not_hold_up_the_end(tmp_path: Path) -> None:
    made = script_in(
        tmp_path, "import time\ndef init(): pass\ndef run(data):\n    time.sleep(float(data))\n    return 1\n"
    )
    with Service(tmp_path / "run", drain_seconds=0.5, **made).ready() as service:
        import socket

        with socket.create_connection(("127.0.0.1", service.port)) as client:
            client.sendall(b"POST /score HTTP/1.1\r\nHost: me\r\nContent-Length: 3\r\n\r\n100")
            assert service.ask("/").status == 200
            assert service.drain() == 0


def test_a_hundred_megabytes_go_through(tmp_path: Path) -> None:
    made = script_in(tmp_path, "def init(): pass\ndef run(data):\n    return len(data)\n")
    with Service(tmp_path / "run", **made).ready() as service:
        size = 100 * 1024 * 1024
        assert service.ask("/score", b"1" * size).json() == size
        assert service.ask("/").status == 200
