"""A folder of hand-made packages that stands for the package index, and a place to build environments in."""

from __future__ import annotations

import base64
import http.server
import os
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from runyard.contracts.environment import Specification, specification_of
from runyard.environments.builder import Built, Order
from runyard.environments.packages import choose

MINOR = f"{sys.version_info[0]}.{sys.version_info[1]}"


@dataclass
class Yard:
    """Builds environments from the packages in `links`, and keeps the log."""

    root: Path
    log: list[str] = field(default_factory=list)

    @property
    def links(self) -> Path:
        return self.root / "links"

    @property
    def folder(self) -> Path:
        return self.root / "environment"

    def specification(
        self, *pip: str, conda: tuple[str, ...] = (), python: str = MINOR, channels: tuple[str, ...] = ()
    ) -> Specification:
        packages = [*conda, {"pip": list(pip)}, *([f"python={python}"] if python else [])]
        said = {"dependencies": packages, "channels": list(channels)}
        return specification_of({"python": {"condaDependencies": said}})

    def build(self, *pip: str, conda: tuple[str, ...] = (), python: str = MINOR, relax: bool = False) -> Built:
        return self.make(Order(self.specification(*pip, conda=conda, python=python), relax=relax))

    def make(self, order: Order) -> Built:
        self.folder.mkdir(exist_ok=True)
        return choose(order.specification, self.root / "memory").build(
            replace(order, report=self.log.append), self.folder
        )

    def installed(self) -> set[str]:
        found = self.folder.glob("lib/python*/site-packages/*.dist-info")
        return {each.name[: -len(".dist-info")] for each in found}


@dataclass(frozen=True)
class Index:
    """A real package index on a port of this machine."""

    host: str  # with the port
    asked: list[str]


@pytest.fixture
def plain_pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No configuration of pip or uv, and no conda: what this machine has does not count."""
    for name in list(os.environ):
        if name.startswith(("PIP_", "UV_", "CONDA", "MAMBA")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv-cache"))
    monkeypatch.setattr("runyard.environments.tools.CONDA_TOOLS", ())


@pytest.fixture
def yard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plain_pip: None) -> Yard:
    """Packages come from an empty folder: put wheels there."""
    made = Yard(tmp_path)
    made.links.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(made.links))
    return made


@pytest.fixture
def index(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    """The packages of the yard behind HTTP, for `me` with the password `pass/word`. Nothing is configured for it."""
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    asked: list[str] = []
    allowed = "Basic " + base64.b64encode(b"me:pass/word").decode()

    class Answers(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.headers.get("Authorization") != allowed:
                return self._answer(401, b"")
            asked.append(self.path)
            first, name = self.path.strip("/").split("/", 1)
            if first == "files" and (yard.links / name).is_file():
                return self._answer(200, (yard.links / name).read_bytes())
            held = [each.name for each in yard.links.iterdir() if each.name.startswith(name.replace("-", "_") + "-")]
            page = "".join(f'<a href="/files/{each}">{each}</a>' for each in held)
            return self._answer(200 if held else 404, page.encode(), "text/html")

        do_HEAD = do_GET

        def _answer(self, status: int, body: bytes, kind: str = "application/octet-stream") -> None:
            self.send_response(status)
            if status == 401:
                self.send_header("WWW-Authenticate", 'Basic realm="packages"')
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        def log_message(self, *words: object) -> None:
            """Keep the test's output clean."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield Index(f"127.0.0.1:{server.server_port}", asked)
        server.shutdown()
        thread.join()
