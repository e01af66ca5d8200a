"""Messages that tell users to install something must name a command that works where they installed Runyard from."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import pytest

from runyard.contracts.installation import _read

pytestmark = pytest.mark.slow

REQUIRES = ("uv>=0.8", "psycopg[binary]>=3.1; extra == 'postgres'", 'ray[default]>=2.40; extra == "ray"')
PIP = f"{shlex.quote(sys.executable)} -m pip install"


def commands(found: dict[str, Any], installer: str = "pip") -> tuple[str, str]:
    known = _read(found, installer, REQUIRES)
    return known.with_extra("postgres"), known.upgrade()


def test_a_clone_that_is_used_in_place(tmp_path: Path) -> None:
    clone = tmp_path / "my clone"
    (clone / ".git").mkdir(parents=True)
    quoted = str(clone).replace(" ", "%20")
    assert commands({"url": f"file://{quoted}", "dir_info": {"editable": True}}) == (
        f"{PIP} --editable '{clone}[postgres]'",
        f"git -C '{clone}' pull && {PIP} --upgrade --editable '{clone}'",
    )


def test_a_folder_without_a_repository(tmp_path: Path) -> None:
    found = {"url": f"file://{tmp_path}", "dir_info": {}}
    assert commands(found) == (f"{PIP} '{tmp_path}[postgres]'", f"{PIP} --upgrade {tmp_path}")


def test_a_folder_that_is_gone(tmp_path: Path) -> None:
    extra, upgrade = commands({"url": f"file://{tmp_path}/gone", "dir_info": {}})
    assert extra == f"{PIP} 'psycopg[binary]>=3.1'"
    assert upgrade == f"{PIP} --upgrade ARCHIVE_OR_FOLDER_OF_THE_NEW_VERSION"


@pytest.mark.parametrize(("revision", "upgraded"), [("main", "@main"), ("v0.1", ""), ("0a1b2c3d", ""), (None, "")])
def test_a_repository(revision: str | None, upgraded: str) -> None:
    found = {"url": "https://me:hush@git.example/runyard.git", "vcs_info": {"vcs": "git", "commit_id": "0a1b2c3d"}}
    if revision:
        found["vcs_info"]["requested_revision"] = revision  # type: ignore[index]
    at = f"@{revision}" if revision else ""
    assert commands(found) == (
        f"{PIP} 'runyard[postgres] @ git+https://git.example/runyard.git{at}'",
        f"{PIP} --upgrade 'runyard @ git+https://git.example/runyard.git{upgraded}'",
    )


def test_the_user_of_an_ssh_address_stays() -> None:
    found = {"url": "ssh://git@git.example/runyard.git", "vcs_info": {"vcs": "git"}, "subdirectory": "python"}
    assert (
        commands(found)[0] == f"{PIP} 'runyard[postgres] @ git+ssh://git@git.example/runyard.git#subdirectory=python'"
    )


def test_an_archive() -> None:
    found = {"url": "https://x.example/runyard-0.1.0-py3-none-any.whl", "archive_info": {}}
    assert commands(found) == (
        f"{PIP} 'runyard[postgres] @ https://x.example/runyard-0.1.0-py3-none-any.whl'",
        f"{PIP} --upgrade ARCHIVE_OR_FOLDER_OF_THE_NEW_VERSION",
    )


def test_an_index_and_an_environment_without_pip() -> None:
    uv = f"uv pip install --python {shlex.quote(sys.executable)}"
    assert commands({}, "uv") == (f"{uv} 'runyard[postgres]'", f"{uv} --upgrade runyard")


def test_the_command_that_is_named_works(tmp_path: Path) -> None:
    """A package of the same name and form, installed by pip into an environment of its own, with an extra that costs
    nothing: what the code there says is run there."""
    source = Path(__file__).parents[2] / "src" / "runyard"
    clone = tmp_path / "clone"
    (clone / "runyard" / "contracts").mkdir(parents=True)
    for name in ("__init__.py", "contracts/__init__.py", "contracts/installation.py"):
        (clone / "runyard" / name).write_text((source / name).read_text())
    (clone / "pyproject.toml").write_text(
        "[build-system]\nrequires = []\nbuild-backend = 'backend'\nbackend-path = ['.']\n"
        "[project]\nname = 'runyard'\nversion = '0.1'\n"
    )
    (clone / "backend.py").write_text(BACKEND)
    venv.create(tmp_path / "venv", with_pip=True)
    python = str(tmp_path / "venv" / "bin" / "python")
    pip = [python, "-m", "pip", "install", "--no-index", "--no-build-isolation", "--disable-pip-version-check"]
    subprocess.run([*pip, clone], check=True, capture_output=True)
    code = "import json; from runyard.contracts.installation import installation as i; "
    code += "print(json.dumps([i().with_extra('postgres'), i().upgrade(), i().source()]))"
    asked = subprocess.run([python, "-c", code], check=True, capture_output=True, text=True, cwd=tmp_path)
    extra, upgrade, where = json.loads(asked.stdout)
    assert where == f"from {clone}"
    for command in (extra, upgrade):
        assert shlex.split(command)[0] == python
        offline = command.replace("pip install", "pip install --no-index --no-build-isolation")
        done = subprocess.run(offline, shell=True, capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "Successfully installed runyard" in done.stdout


BACKEND = """
import pathlib, zipfile

def build_wheel(folder, config_settings=None, metadata_directory=None):
    name = "runyard-0.1-py3-none-any.whl"
    metadata = "Metadata-Version: 2.1\\nName: runyard\\nVersion: 0.1\\nProvides-Extra: postgres\\n"
    tags = "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"
    with zipfile.ZipFile(pathlib.Path(folder, name), "w") as wheel:
        for path in pathlib.Path(__file__).parent.glob("runyard/**/*.py"):
            wheel.write(path, path.relative_to(pathlib.Path(__file__).parent))
        wheel.writestr("runyard-0.1.dist-info/METADATA", metadata)
        wheel.writestr("runyard-0.1.dist-info/WHEEL", tags)
        wheel.writestr("runyard-0.1.dist-info/RECORD", "")
    return name
"""
