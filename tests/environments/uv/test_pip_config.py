from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from runyard.environments.problem import EnvironmentProblem
from runyard.environments.uv import pip_config


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The variables of a user with a home folder of their own, and with no configuration of this machine."""
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "prefix"))
    return {
        "HOME": str(tmp_path),
        "XDG_CONFIG_DIRS": str(tmp_path / "xdg"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
    }


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_the_stronger_file_wins_and_variables_win_over_all(user: dict[str, str], tmp_path: Path) -> None:
    _write(
        tmp_path / "xdg/pip/pip.conf", "[global]\nindex-url = https://site/simple\ntimeout = 7\nproxy = http://p:1\n"
    )
    _write(tmp_path / "config/pip/pip.conf", "[global]\nindex_url = https://user/simple\n[install]\ntimeout = 8\n")
    _write(tmp_path / "prefix/pip.conf", "[global]\nproxy = http://prefix:1\n")
    said = pip_config.read({**user, "PIP_TIMEOUT": "9"})
    assert said == {**said, "index-url": "https://user/simple", "timeout": "9", "proxy": "http://prefix:1"}


def test_the_install_section_wins_over_the_global_one(user: dict[str, str], tmp_path: Path) -> None:
    _write(tmp_path / ".pip/pip.conf", "[install]\nindex-url = https://install\n[global]\nindex-url = https://global\n")
    assert pip_config.read(user)["index-url"] == "https://install"


def test_a_file_of_ones_own_replaces_the_users(user: dict[str, str], tmp_path: Path) -> None:
    _write(tmp_path / "config/pip/pip.conf", "[global]\nindex-url = https://user/simple\npre = yes\n")
    own = _write(tmp_path / "own.conf", "[global]\nindex-url = https://own/simple\n")
    said = pip_config.read({**user, "PIP_CONFIG_FILE": str(own)})
    assert said["index-url"] == "https://own/simple"
    assert "pre" not in said
    assert "index-url" not in pip_config.read({**user, "PIP_CONFIG_FILE": os.devnull})


def test_the_active_environments_file_is_read(user: dict[str, str], tmp_path: Path) -> None:
    _write(tmp_path / "venv/pip.conf", "[global]\nindex-url = https://venv/simple\n")
    assert pip_config.read({**user, "VIRTUAL_ENV": str(tmp_path / "venv")})["index-url"] == "https://venv/simple"


def test_all_that_uv_is_told(user: dict[str, str], tmp_path: Path) -> None:
    links = tmp_path / "a folder, of wheels"
    links.mkdir()
    _write(
        tmp_path / "config/pip/pip.conf",
        "[global]\nindex-url = https://me:secret@one/simple\nextra-index-url =\n    https://two/simple\n"
        "    https://three/simple\ncert = ~/ca.pem\nclient-cert = /c.pem\ntrusted-host = one two:8080\ntimeout = 12.5\n"
        "[install]\nno-index = true\npre = 1\nconstraint = /c.txt\nno-binary = a,b\nonly-binary = :all:\n",
    )
    told = pip_config.for_uv({**user, "PIP_FIND_LINKS": f"https://x/links /not/there {tmp_path}"})
    assert told.variables["UV_DEFAULT_INDEX"] == "https://me:secret@one/simple"
    assert told.variables["UV_EXTRA_INDEX_URL"] == "https://two/simple https://three/simple"
    assert told.variables["UV_FIND_LINKS"] == f"https://x/links,{tmp_path.as_uri()}"
    assert told.variables["UV_INDEX_STRATEGY"] == "unsafe-best-match"
    assert told.variables["UV_INSECURE_HOST"] == "one two:8080"
    assert told.variables["SSL_CERT_FILE"].endswith("/ca.pem")
    assert "~" not in told.variables["SSL_CERT_FILE"]
    assert told.variables["SSL_CLIENT_CERT"] == "/c.pem"
    assert told.variables["UV_HTTP_TIMEOUT"] == "12"
    assert told.variables["UV_PRERELEASE"] == "allow"
    assert " ".join(told.arguments) == "--no-index --constraints /c.txt --no-binary a --no-binary b --only-binary :all:"


def test_a_proxy_goes_to_all_schemes(user: dict[str, str]) -> None:
    told = pip_config.for_uv({**user, "PIP_PROXY": "http://proxy:3128"}).variables
    assert {told["HTTP_PROXY"], told["HTTPS_PROXY"], told["ALL_PROXY"]} == {"http://proxy:3128"}


def test_what_the_user_told_uv_wins(user: dict[str, str]) -> None:
    own = {"UV_INDEX_URL": "https://uv", "UV_INDEX_STRATEGY": "first-index", "UV_CONSTRAINT": "/mine"}
    told = pip_config.for_uv({**user, **own, "PIP_INDEX_URL": "https://pip", "PIP_CONSTRAINT": "/pip"})
    assert "UV_DEFAULT_INDEX" not in told.variables
    assert "UV_INDEX_STRATEGY" not in told.variables
    assert "--constraints" not in told.arguments


def test_a_specification_with_its_own_index_is_not_sent_to_the_configured_one(user: dict[str, str]) -> None:
    told = pip_config.for_uv({**user, "PIP_INDEX_URL": "https://pip", "PIP_NO_INDEX": "1"}, own_index=True)
    assert "UV_DEFAULT_INDEX" not in told.variables
    assert told.arguments == []


def test_a_file_that_is_no_configuration_is_named(user: dict[str, str], tmp_path: Path) -> None:
    file = _write(tmp_path / "config/pip/pip.conf", "index-url = https://no-section\n")
    with pytest.raises(EnvironmentProblem, match=str(file)) as caught:
        pip_config.read(user)
    assert caught.value.code == "PipConfigurationUnreadable"
