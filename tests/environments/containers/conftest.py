"""A real engine, orders for its builder, and the certainty that no container is left."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import docker
import pytest

from runyard.contracts.environment import Specification
from runyard.contracts.secrets import mask
from runyard.environments.builder import Built, Order
from runyard.environments.containers.image import ContainerBuilder

DEADLINE = 120.0


def wait_for(condition: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.02)


@dataclass
class Bench:
    """A place to build images: keeps the log, and removes what was made."""

    client: docker.DockerClient
    folder: Path
    log: list[str] = field(default_factory=list)
    secrets: Mapping[str, str] = field(default_factory=dict)
    check: Callable[[], None] = lambda: None
    relax: bool = False
    fetch: Callable[[str], Path] = Path
    _made: list[str] = field(default_factory=list)

    def build(self, **specification: Any) -> Built:
        """Build an environment; packages are installed where the specification names some."""
        specification.setdefault(
            "user_managed", not any(specification.get(each) for each in ("pip", "conda", "python"))
        )
        wanted = Specification(**specification)
        self.folder.mkdir(exist_ok=True)
        folder = self.folder / str(len(list(self.folder.iterdir())))
        folder.mkdir()
        self._made.append(self.tag(**specification))
        order = Order(wanted, self.relax, self.secrets, self._say, self.check, self.fetch)
        return ContainerBuilder().build(order, folder)

    def tag(self, **specification: Any) -> str:
        specification.setdefault(
            "user_managed", not any(specification.get(each) for each in ("pip", "conda", "python"))
        )
        return f"runyard/environment:{Specification(**specification).key(self.relax)}"

    def has(self, image: str) -> bool:
        return bool(self.client.images.list(image))

    def output(self, image: str, *command: str) -> str:
        said: bytes = self.client.containers.run(image, list(command), remove=True, network_mode="host")
        return said.decode()

    def containers(self) -> list[str]:
        return [str(each.name) for each in self.client.containers.list(all=True, ignore_removed=True)]

    def clean(self) -> None:
        for tag in self._made:
            if self.has(tag):
                self.client.images.remove(tag, force=True)

    def _say(self, line: str) -> None:
        self.log.append(mask(line, self.secrets.values()))


@pytest.fixture
def bench(engine_address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    for name in ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "PIP_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    client = docker.DockerClient(base_url=engine_address)
    made = Bench(client, tmp_path / "builds")
    yield made
    made.clean()
    left = made.containers()
    for name in left:
        client.containers.get(name).remove(force=True)
    client.close()
    assert not left, f"containers were left: {left}"
