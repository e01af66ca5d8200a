from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import docker
import pytest

from runyard.environments.containers.runtime import (
    LABEL,
    NODE_LABEL,
    ContainerOrder,
    Seat,
    contained_argv,
    container_name,
    creation,
)


@pytest.fixture
def client() -> Iterator[docker.DockerClient]:
    """A client that has not asked its engine anything."""
    made = docker.DockerClient(base_url="unix:///nowhere/docker.sock", version="1.41")
    yield made
    made.close()


def order(tmp_path: Path, **options: object) -> ContainerOrder:
    contained_argv(tmp_path, "/sdk", "run_1", "image:1", ["python", "train.py"], {"A": "1"}, options)
    return ContainerOrder.load(tmp_path / "container.json")


def test_an_order_is_read_back_by_the_process_that_carries_it_out(tmp_path: Path) -> None:
    argv = contained_argv(tmp_path, "/sdk", "run_1", "image:1", ["python", "train.py"], {"A": "1"}, {})
    assert argv == [sys.executable, "-I", "/sdk/runyard/node/launch/contained.py", str(tmp_path / "container.json")]
    assert stat.S_IMODE(os.stat(argv[-1]).st_mode) == 0o600, "its variables may hold secrets"
    loaded = ContainerOrder.load(Path(argv[-1]))
    assert (loaded.run_id, loaded.image, loaded.argv) == ("run_1", "image:1", ["python", "train.py"])
    assert (loaded.variables, loaded.rank, loaded.readable) == ({"A": "1"}, None, ["/sdk"])
    assert loaded.log == str(tmp_path / "streams" / "std_log.txt")


def test_each_rank_of_a_node_has_an_order_and_a_name_of_its_own(tmp_path: Path) -> None:
    seat = Seat(3, 1, tmp_path / "rank3.txt", tmp_path / "work", (Path("/shared"),))
    argv = contained_argv(tmp_path, "/sdk", "run_1", "image:1", ["python"], {}, {}, seat)
    loaded = ContainerOrder.load(Path(argv[-1]))
    assert (loaded.rank, loaded.node, loaded.log) == (3, 1, str(tmp_path / "rank3.txt"))
    assert loaded.writable == [str(tmp_path), "/shared"]
    assert container_name("run_1", 3) == "runyard-run_1-3"
    assert container_name("odd name/1") == "runyard-odd-name-1"


def test_what_a_container_is_created_with(tmp_path: Path, client: docker.DockerClient) -> None:
    wanted = order(
        tmp_path, shm_size="4g", arguments=["--user", "1000:1000", "--env", "B=2", "--memory", "2g", "--cpus", "1.5"]
    )
    made = creation(wanted, client, print)
    assert made["command"] == ["python", "train.py"]
    assert made["entrypoint"][-1] == str(tmp_path / "streams" / "std_log.txt")
    assert made["labels"] == {LABEL: "run_1", NODE_LABEL: "0"}
    assert made["environment"] == {"A": "1", "B": "2", "HOME": "/tmp"}
    assert (made["user"], made["shm_size"], made["network_mode"]) == ("1000:1000", "4g", "host")
    assert (made["mem_limit"], made["nano_cpus"]) == ("2g", 1_500_000_000)
    assert [(mount["Target"], mount["ReadOnly"]) for mount in made["mounts"]] == [
        (str(tmp_path), False),
        ("/sdk", True),
    ]


def test_ports_are_published_only_where_the_network_is_not_the_machines(
    tmp_path: Path, client: docker.DockerClient
) -> None:
    plain = replace(order(tmp_path), arguments={"user": "root", "publish": ["8080:80", "127.0.0.1:9090:90", "70"]})
    assert "ports" not in creation(plain, client, print)
    bridged = replace(plain, arguments={**plain.arguments, "network": "bridge"})
    made = creation(bridged, client, print)
    assert made["ports"] == {"80": 8080, "90": ("127.0.0.1", 9090), "70": None}
    assert made["environment"] == {"A": "1"}, "root has a home of its own"


def test_gpus_are_asked_for_by_number_or_by_name(tmp_path: Path, client: docker.DockerClient) -> None:
    plain = order(tmp_path)
    for text, expected in (("all", (-1, None)), ("2", (2, None)), ('"device=0,2"', (None, ["0", "2"]))):
        made = creation(replace(plain, arguments={"user": "root", "gpus": text}), client, print)
        (request,) = made["device_requests"]
        assert (request.count or None, request.device_ids or None) == expected
