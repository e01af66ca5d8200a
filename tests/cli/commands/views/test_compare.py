"""`runyard compare` and `diff`: what a user sees of two runs that differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runyard.cli import errors

if TYPE_CHECKING:
    from tests.cli.conftest import Shell

TRAIN = """
import sys
from azureml.core import Run
run = Run.get_context()
for step in range(10):
    run.log("loss", 1 / (step + 1))
print(sys.argv[1:])
"""


def test_two_runs_beside_one_another(shell: Shell) -> None:
    first = shell.completed(TRAIN, "--lr", "0.1")["id"]
    second = shell.completed(TRAIN + "# changed\n", "--lr", "0.2")["id"]
    table = shell.call("compare", first, second).stdout
    (row,) = [line.split() for line in table.splitlines() if line.startswith("parameters")]
    assert row == ["parameters", "lr", "0.1", "0.2"]
    assert table.count("█") >= 2, "a curve for each"
    assert " script" not in table
    assert " script" in shell.call("compare", first, second, "--all").stdout
    rows = shell.json("compare", first, second)["rows"]
    assert {"group": "parameters", "name": "lr", "values": ["0.1", "0.2"], "same": False} in rows

    said = shell.call("diff", first, second).stdout
    assert "parameters lr: 0.1 → 0.2" in said
    assert "+# changed" in said
    assert "nothing to compare" in shell.refusal("compare", first, expect=errors.USAGE)["title"]
    assert "same run" in shell.refusal("diff", first, first, expect=errors.USAGE)["title"]
