"""What packages need from this machine, handed over to a container."""

from __future__ import annotations

import os
from pathlib import Path

from runyard.environments.containers.handover import Handover, pip_variables


def test_what_is_handed_over_is_for_the_user_alone(tmp_path: Path) -> None:
    handover = Handover(tmp_path / "h")
    assert handover.variables({"TOKEN": "it's"}) == "/mnt/variables"
    assert (tmp_path / "h/variables").read_text() == "export TOKEN='it'\"'\"'s'\n"
    assert os.stat(tmp_path / "h").st_mode & 0o077 == 0
    assert os.stat(tmp_path / "h/variables").st_mode & 0o077 == 0


def test_folders_of_this_machine_are_put_in_sight(tmp_path: Path) -> None:
    (tmp_path / "pypi/simple").mkdir(parents=True)
    handover = Handover(tmp_path / "h")
    links = handover.address(str(tmp_path / "pypi"))
    index = handover.address((tmp_path / "pypi/simple").as_uri())
    assert handover.mounts[str(tmp_path / "pypi")] == links
    assert index == f"file://{links}/simple", "the pages of an index point at files beside it"
    assert handover.address("https://host/simple") == "https://host/simple"
    assert handover.address("/not/there") == "/not/there"


def test_pip_works_in_the_container_as_it_does_here(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("certificate")
    (tmp_path / "netrc").write_text("machine host")
    handover = Handover(tmp_path / "h")
    configured = {"index-url": "https://a/simple", "cert": str(tmp_path / "ca.pem"), "cache-dir": "/c", "timeout": "9"}
    variables = pip_variables(handover, configured, {"NETRC": str(tmp_path / "netrc"), "https_proxy": "p", "HOME": "h"})
    cert, netrc = variables.pop("PIP_CERT"), variables.pop("NETRC")
    assert (tmp_path / "h" / os.path.relpath(cert, "/mnt")).read_text() == "certificate"
    assert (tmp_path / "h" / os.path.relpath(netrc, "/mnt")).read_text() == "machine host"
    assert variables == {
        "PIP_CONFIG_FILE": "/dev/null",
        "PIP_INDEX_URL": "https://a/simple",
        "PIP_TIMEOUT": "9",
        "https_proxy": "p",
    }
