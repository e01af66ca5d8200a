"""Building environments ahead of their runs."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.wheels import wheel

from runyard.cli import errors

if TYPE_CHECKING:
    from tests.cli.conftest import Shell


def test_a_definition_is_shown_while_nothing_is_built_for_it(shell: Shell) -> None:
    told = shell.call("env", "show", "AzureML-Minimal").stdout
    assert "AzureML-Minimal" in told
    assert "curated" in told
    assert "env build AzureML-Minimal" in told
    assert shell.refusal("env", "show", "no-such", expect=errors.NOT_FOUND)["code"] == "environment_not_found"


def requirements(shell: Shell, package: str) -> Path:
    """A requirements file in a project folder, whose packages come from a folder beside it and from nowhere else."""
    project = shell.folder / f"project-{uuid.uuid4().hex[:8]}"
    wheel(project / "wheels", "runyard-tiny", "1.5")
    file = project / "requirements.txt"
    file.write_text(f"--no-index\n--find-links {project / 'wheels'}\n{package}\n")
    return file


def test_an_environment_is_built_ahead_and_runs_find_it(shell: Shell) -> None:
    file = requirements(shell, "runyard-tiny")
    told = shell.call("env", "build", "--pip", str(file), "--name", "tiny").stdout
    assert "Building tiny:1" in told
    assert "runyard-tiny" in told
    assert "tiny:1 is ready." in told
    (entry,) = shell.json("env", "show", "tiny")
    assert Path(entry["built"]["interpreter"]).exists()

    (file.parent / "train.py").write_text("import runyard_tiny, sys; print(runyard_tiny.__version__, sys.prefix)")
    script = str(file.parent / "train.py")
    for chosen in (["--environment", "tiny:1"], ["--pip", str(file)]):
        assert f"1.5 {entry['folder']}\n" in shell.call("submit", script, *chosen, "-f").stdout
    used = next(line for line in shell.call("show", "@last").stdout.splitlines() if "environment " in line)
    assert entry["key"][:12] in used
    assert entry["built"]["interpreter"] in used
    assert [each["key"] for each in shell.json("env", "ls") if "tiny" in each["names"]] == [entry["key"]]
    assert entry["asked"] == ["pip", "runyard-tiny"]


def test_submit_shows_the_build_and_then_the_script(shell: Shell, tmp_path: Path) -> None:
    script = shell.script("import forecasts; print('forecast', forecasts.__version__)")
    (tmp_path / "mine.txt").write_text(wheel(tmp_path / "shelf", "forecasts", "7.0").as_uri())
    said = shell.call("submit", script, "--pip", str(tmp_path / "mine.txt"), "--follow").stdout
    assert said.index("Built in") < said.index("forecast 7.0")


def test_a_build_that_fails_is_exit_code_1_and_says_why(shell: Shell) -> None:
    file = requirements(shell, "runyard-no-such-package")
    events = shell.call("env", "build", "--pip", str(file), "--json", expect=errors.FAILED).stdout.splitlines()
    ended = json.loads(events[-1])
    assert (ended["event"], ended["run"]["status"]) == ("ended", "Failed")
    assert "runyard-no-such-package" in ended["run"]["error"]["message"]
