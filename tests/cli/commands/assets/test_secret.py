"""Secrets from the command line: the value comes from standard input, and is shown nowhere."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from tests.cli.conftest import RUNYARD

from runyard.cli import errors

if TYPE_CHECKING:
    from tests.cli.conftest import Shell


def test_a_secret_is_set_listed_and_removed(shell: Shell) -> None:
    done = subprocess.run(
        [str(RUNYARD), "secret", "set", "my-key"],
        cwd=shell.folder,
        env=shell.environment(),
        input="hidden-value\n",
        capture_output=True,
        text=True,
        check=True,
    )
    assert "hidden-value" not in done.stdout + done.stderr
    assert "get_secret('my-key')" in done.stdout
    listed = shell.call("secret", "ls").stdout
    assert "my-key" in listed
    assert "hidden-value" not in listed
    shell.refusal("secret", "set", "empty", expect=errors.USAGE)
    assert shell.json("secret", "rm", "my-key", "--yes") == {"removed": "my-key"}
    shell.refusal("secret", "rm", "my-key", "--yes", expect=errors.NOT_FOUND)
